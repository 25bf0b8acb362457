// Package sse reads and writes event streams (text/event-stream).
//
// It promises that any division of a stream into feeds gives the same events,
// that each event is delivered with the byte that completes it, that between the
// ranges of the events lies nothing but comments and fields which make no event,
// and that an event which is complete within one feed is neither copied, unless
// it has several data lines, nor costs an allocation.
//
// It refuses events beyond a limit, for which all of their bytes count, those of
// comments included. It interprets only the fields data and event: reconnection
// (id, retry) has no meaning for answers of language models.
package sse
