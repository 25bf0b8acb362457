// Package exchange is what the gateway and the transport share: one client request
// with all that is known of it, the attempts to answer it, their results, and the
// memory of its body. The package imports neither of the two.
package exchange
