package demo

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// whole writes the answer as one JSON body, changed by the faults of the prompt.
func (x *exchange) whole(a *reply.Answer, w wire.Writer) {
	body := x.wholeBody(a, w)
	if a.Faults.Has(reply.Gzip) {
		x.w.Header().Set("Content-Encoding", "gzip")
		body = compress(body)
	}
	x.setHeader("application/json")
	x.pause(a.Faults.SlowFirst)
	_, _ = x.w.Write(body) // a client that left needs no answer
}

func (x *exchange) wholeBody(a *reply.Answer, w wire.Writer) json.RawMessage {
	body := reply.Encode(w.Whole(a))
	failed := a.Faults.Has(reply.FirstEventError)
	switch a.Faults.Middle {
	case reply.Stall:
		x.stall()
	case reply.Cut:
		x.cut(body)
	case reply.Garbage:
		body = body[:len(body)/2]
	case reply.ErrorEvent:
		failed = true
	}
	if failed {
		return reply.Encode(w.Failed(a, x.overloaded(&a.Faults)))
	}
	return body
}

// cut announces the length of the whole body, and breaks off in its middle.
func (x *exchange) cut(body []byte) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = x.w.Write(body[:len(body)/2])
	_ = http.NewResponseController(x.w).Flush()
	x.abort()
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = zip.Write(body) // memory does not fail
	_ = zip.Close()
	return b.Bytes()
}
