// Package translate holds the vocabulary that all wire formats share: formats,
// faults, usage, views of request bodies and the signals of streams.
//
// It promises to be pure: bytes in, bytes out. It knows no HTTP, no Caddy, no
// clock and no goroutine, and so do the packages below it, one for each format.
package translate
