package demo

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
)

// whole writes the answer as one JSON body, changed by the faults of the prompt.
func (w *writing) whole() {
	for e := range w.answer.Events(w.route.format) {
		w.emitter.Handle(&e)
	}
	f, body := &w.answer.Request.Faults, w.emitter.Output()
	fails := f.Has(reply.FirstEventError)
	switch f.Middle {
	case reply.Stall:
		w.stall()
	case reply.Cut:
		w.cut(body)
	case reply.Garbage:
		body = body[:len(body)/2]
	case reply.ErrorEvent:
		fails = true
	}
	if fails {
		body = w.route.format.Errors.Append(nil, failed(f), w.seed.RequestID())
	}
	if f.Has(reply.Gzip) {
		w.w.Header().Set("Content-Encoding", "gzip")
		body = compress(body)
	}
	w.pause(f.SlowFirst)
	w.writeJSON(http.StatusOK, body)
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
