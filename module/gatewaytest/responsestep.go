package gatewaytest

import (
	"fmt"
	"strings"
)

// ResponseStream answers 200 with a stream of ResponseEvents, each flushed by
// itself.
func ResponseStream(events ...string) Step {
	return Chunks(EventStream, strings.SplitAfter(ResponseEvents(events...), "\n\n")...)
}

// ResponseEvents frames and numbers events of the responses format. Each is given
// as its type, a space, and its other members with a comma before each:
//
//	response.output_text.delta ,"item_id":"m","output_index":0,"content_index":0,"delta":"x"
func ResponseEvents(events ...string) string {
	var b strings.Builder
	for i, e := range events {
		kind, members, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d%s}\n\n", kind, kind, i, members)
	}
	return b.String()
}
