package gatewaytest

import (
	"fmt"
	"strings"
)

// ResponseStream answers 200 with a stream of FrameResponseEvents, and flushes each event.
func ResponseStream(events ...string) Step {
	return Chunks(EventStream, FrameResponseEvents(events...)...)
}

// ResponseEvents returns the events of FrameResponseEvents as one text.
func ResponseEvents(events ...string) string { return strings.Join(FrameResponseEvents(events...), "") }

// FrameResponseEvents frames and numbers events of the responses format. Each argument is
// the type of an event, a space, and its other members, with a comma before each:
//
//	response.output_text.delta ,"item_id":"m","output_index":0,"content_index":0,"delta":"x"
func FrameResponseEvents(events ...string) []string {
	framed := make([]string, len(events))
	for i, e := range events {
		kind, members, _ := strings.Cut(e, " ")
		framed[i] = fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d%s}\n\n", kind, kind, i, members)
	}
	return framed
}
