// Package translate holds the words that all wire formats share: the names of
// formats and operations, views of request bodies, losses, and what the answer to
// a request depends on. The packages below it hold everything else.
//
// It is pure, as are the packages below it: bytes in, bytes out. None of them
// knows HTTP, Caddy, a clock or a goroutine.
package translate
