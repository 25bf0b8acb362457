// Package exchange has the types that the gateway and the transport share: the exchange,
// which is one client request with everything known about it, its attempts, their
// results, and the memory of the request body. The package imports neither of the two.
package exchange
