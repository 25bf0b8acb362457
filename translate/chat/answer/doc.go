// Package answer observes, reads and writes answers of the chat format, whole ones
// and event streams.
//
// An Observer and Inspect pass what they do not know, since nothing is changed for
// their clients. A Parser refuses what it cannot read. Only the event End makes an
// Emitter write [DONE].
package answer
