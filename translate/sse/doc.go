// Package sse reads and writes event streams (text/event-stream).
//
// It promises that any division of a stream into feeds gives the same events,
// that each event is delivered with the byte that completes it, that the ranges
// of the events cover the stream without a gap, and that an event which is
// complete within one feed is neither copied nor costs an allocation.
//
// It refuses events beyond a limit. It interprets only the fields data and
// event: reconnection (id, retry) has no meaning for answers of language models.
package sse
