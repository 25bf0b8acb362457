// Package exchange is the leaf that the gateway, the transport and every guest
// module share: one client request with all that is known about it, the
// attempts made to answer it, keys, patterns, secrets, and the interfaces that
// guests implement. It promises to know none of those who use it.
package exchange
