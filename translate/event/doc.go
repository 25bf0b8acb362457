// Package event contains core events: the parts of an answer, streamed or not,
// independent of a format. A parser turns a provider's answer into core events, and an
// emitter writes core events as the client's answer.
//
// Only the event End means that an answer is complete. An answer that was cut off or that
// failed never has one.
package event
