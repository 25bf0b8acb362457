// Package answer observes, reads and writes answers of the chat format, whole ones
// and event streams.
//
// An Observer and Inspect ignore members that they do not know, since the answer is
// relayed unchanged. A Parser refuses an answer that it cannot read. An Emitter writes
// [DONE] only for the event End.
package answer
