// Package soak has no code, only tests that wear ctrlx out: a real API server and etcd, operators in processes of their own that
// are killed at any moment, an API server that is killed, a network that fails, and a cloud that remembers what it was asked.
//
// "go test" runs a short form of each, "make soak" the long one:
//
//	                 short                       long
//	TestRaces        1,000 waiters               25 times 1,000 waiters
//	TestWrongOrders  not run                     two wrong orders in which to register and to read, which TestRaces must notice
//	TestHerd         200 databases               1,000 databases
//	TestKilled       2 times 3 kills             2 times 100 kills: with a GET before each PUT, and without
//	TestServerKilled 100 waiters, 1 outage       1,000 waiters, 6 outages of up to 30 s
//	TestLeader       1 kill of the leader        20 kills
//	TestFaults       20 databases, 5 s           60 databases, 60 s
//	TestMadeAnew     12 names, 5 s               40 names, 60 s
//	TestOddField     as it is                    as it is
//
// A seed is drawn for each run, and printed; -seed takes it again. It repeats what is asked for, not how processes and the
// network take turns.
//
// # What is watched all the time
//
// Three see everything, and say what is wrong when it happens:
//
//   - the cloud: two operations under way for one object, a PUT that was made before, one for an object that is being deleted, a
//     token that it never gave or gave for another object;
//   - the wire, between an operator and the API server: a status that is written without saying on which version it is based,
//     on one that the pass has not read, or to another object; a Ready=True of a pass in which a check has blocked;
//   - the guard, which watches the databases: a token or a status of another object of that name, a Ready=True for a
//     generation that is not what the status says, a condition of somebody else that is taken back to what it was before, one that is
//     gone while the cloud has something of it.
package soak
