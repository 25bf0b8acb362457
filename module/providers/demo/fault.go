package demo

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// proxyPage is what a proxy in front of a provider shows when it fails.
const proxyPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n"

// answer carries out the faults that take the place of an answer and reports
// whether there was one.
func (f *faults) answer(x *exchange) bool {
	x.pause(f.slowHeaders)
	switch {
	case f.reset:
		x.reset()
	case f.html:
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(f.status)
		_, _ = x.w.Write([]byte(proxyPage))
	case f.tooLong:
		x.refuse(contextOverflow(x.route.format))
	case f.status >= 400:
		x.refuse(&refusal{
			status: f.status, code: f.code, retryAfter: f.retryAfter,
			message: "this error was asked for by the prompt",
		})
	case f.emptyBody:
		x.w.Header().Set("Content-Type", "application/json")
		x.w.WriteHeader(http.StatusOK)
	default:
		return false
	}
	return true
}

// reset closes the connection with a TCP reset where it is one of its own.
func (x *exchange) reset() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		x.abort() // HTTP/2, or no socket at all
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// writeAnswer writes the answer as one JSON body, or what a fault makes of it.
func (x *exchange) writeAnswer(a *answer) {
	body := encode(a.whole())
	switch a.faults.middle {
	case "stall":
		x.stall()
	case "cut":
		x.cut(body)
	case "garbage":
		body = body[:len(body)/2]
	case "error-event":
		body = encode(x.errorBody(overloaded(a.format)))
	}
	if a.faults.firstEventError {
		body = encode(x.errorBody(overloaded(a.format)))
	}
	if a.faults.gzip {
		x.w.Header().Set("Content-Encoding", "gzip")
		body = compress(body)
	}
	x.setRequestID()
	x.w.Header().Set("Content-Type", "application/json")
	x.pause(a.faults.slowFirst)
	_, _ = x.w.Write(body) // a client that left needs no answer
}

// whole is the answer in the JSON shape of its format.
func (a *answer) whole() any {
	switch a.format {
	case translate.Messages:
		return a.wholeMessages()
	case translate.Chat:
		return a.wholeChat()
	default:
		return a.wholeCompletions()
	}
}

// cut promises the whole body and breaks off in its middle.
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
