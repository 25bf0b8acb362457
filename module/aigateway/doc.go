// Package aigateway is the public API of the gateway: the interfaces of its guest
// modules, and the types that they use.
package aigateway
