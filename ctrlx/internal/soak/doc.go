// Package soak has only tests, which put ctrlx under long and hard load. All but
// TestExplore use a real API server and etcd. Operators run in processes of their own,
// which are killed at any moment. The API server is killed, the network fails,
// and the cloud records every request.
//
// "go test" runs a short form of each test, "make soak" the long form:
//
//	                 short                       long
//	TestExplore      75 runs                     3,000 runs, each in simulated time
//	TestKilled       2 times 3 kills             2 times 100 kills: with a GET before each PUT, and without
//	TestServerKilled 100 waiters, 1 outage       1,000 waiters, 6 outages of up to 30 s
//	TestLeader       1 kill of the leader        20 kills
//
// TestExplore explores the operator with ctrltest: lost wake-ups, faults, and objects
// that vanish or are made anew.
//
// Each run draws and prints a seed; the flag -seed uses it again. A seed
// repeats the requests of the load, but not the timing of processes and of the
// network.
//
// # Observers
//
// Three observers see everything, and report an error when it happens:
//
//   - The cloud reports two operations under way for one object. It reports a
//     repeated PUT, and a PUT for an object that is being deleted. It reports a
//     token that it never gave, or gave for another object.
//   - The wire connects an operator to the API server. It reports a status that
//     is written without the version on which it is based, or on a version that
//     the pass has not read. It reports a status that is written to another
//     object. It reports a Ready=True of a pass in which a check has blocked.
//   - The guard watches the databases. It reports a token or a status of
//     another object of the same name. It reports a Ready=True for a generation
//     that the status does not match. It reports a condition of another
//     controller that is reset to an earlier value. It reports a database that
//     is gone while the cloud still has its resource or operation.
package soak
