// Package site runs the whole gateway for integration tests: Caddy in the
// process of the test, or in a process of its own, with one site, and what its
// clients send, read and expect.
//
// The packages beside it are the tests, by theme. What a provider does is in
// package gatewaytest, which knows nothing of the gateway's configuration and is
// therefore open to the unit tests of all packages; this package imports the
// product.
package site
