// Package wire has the types that the wire formats of the demo provider share: the
// description of a format, a strict reader of request bodies, and the events of a stream.
//
// A format is a package below this one. It exports one Format, which package demo lists. No
// other package depends on the fields of a format.
package wire
