// Package site runs the whole gateway for integration tests: Caddy with one site, in the
// process of the test or in another process. It also contains requests and expected answers
// of clients.
//
// The packages beside it are the tests, by theme. What a provider does is in
// package gatewaytest, which knows nothing of the gateway's configuration and is
// therefore open to the unit tests of all packages; this package imports the
// product.
package site
