// Package answer observes, reads and writes answers of the responses format, whole
// ones and event streams.
//
// An Observer and Inspect ignore members that they do not know, since the answer is
// relayed unchanged. A Parser refuses an answer that it cannot read. An Emitter writes
// response.completed or response.incomplete only for the event End.
package answer
