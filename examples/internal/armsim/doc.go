// Package armsim simulates Azure Resource Manager for the examples. [Server]
// answers the clients of the SDK. An example adds the rules of its service.
package armsim
