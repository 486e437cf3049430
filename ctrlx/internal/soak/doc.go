// Package soak has only tests, which put ctrlx under long and hard load. One operator
// has a cloud that takes its time, a check of its owner, a check of a set, and a
// status that another controller writes, too.
//
// "make soak" runs them, because they draw new cases in each run: 2 × 1,500 runs of
// TestExplore, and 200 kills of TestKilled. "go test ./internal/soak -soak" runs
// 2 × 75 and 200.
//
// TestExplore explores the operator with ctrltest, in simulated time: with a GET
// before each PUT, and without. The process is also killed before or after any call
// of the cloud. TestKilled kills it so on a real API server and etcd, and prints a
// seed, which the flag -seed uses again.
//
// # Observers
//
// Two observers see everything, and report an error when it happens:
//
//   - The cloud reports two operations under way for one object. It reports a
//     repeated PUT, and a PUT for an object that is being deleted. It reports a
//     token that it never gave, or gave for another object.
//   - The wire connects an operator to the API server. It reports a status that
//     is written without the version on which it is based, or on a version that
//     the pass has not read. It reports a status that is written to another
//     object. It reports a Ready=True of a pass in which a check has blocked, or
//     for a generation that the status does not match. It reports a token or a
//     status of another object of the same name, and a status that kstatus takes
//     for Ready before it is. It reports a condition of another controller that is
//     reset to an earlier value. It reports a database that is gone while the
//     cloud still has its resource or operation.
package soak
