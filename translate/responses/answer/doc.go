// Package answer observes, reads and writes answers of the responses format, whole
// ones and event streams.
//
// An Observer and Inspect pass what they do not know, since nothing is changed for
// their clients. A Parser refuses what it cannot read. Only the event End makes an
// Emitter write response.completed or response.incomplete.
package answer
