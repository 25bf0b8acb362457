// Package sse reads and writes event streams (text/event-stream).
//
// Any division of a stream into feeds gives the same events. Each event is returned with
// the byte that completes it. Between the ranges of the events are only comments, and
// fields that belong to no event. An event that is complete within one feed costs no
// allocation, and is not copied unless it has several data lines.
//
// Events beyond a limit are refused; all of their bytes count, those of comments
// included. Only the fields data and event are interpreted: reconnection (id, retry) has
// no meaning for answers of language models.
package sse
