// Package wire holds what the wire formats of the demo provider have in common:
// the description of a format, the strict reading of a request's body, and the
// events of a stream.
//
// A format is a package below this one. It exports one Format, which package
// demo lists; nothing else of the demo provider knows its fields.
package wire
