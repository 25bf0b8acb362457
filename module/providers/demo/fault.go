package demo

import (
	"net"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
)

// proxyPage is the error page of a proxy in front of a provider.
const proxyPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n"

// misbehave carries out a fault that replaces the answer, and reports whether there was
// one.
func (x *exchange) misbehave(f *reply.Faults) bool {
	x.pause(f.SlowHeaders)
	switch {
	case f.Has(reply.Reset):
		x.reset()
	case f.Has(reply.HTML):
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(f.Status)
		_, _ = x.w.Write([]byte(proxyPage))
	case f.Has(reply.TooLong):
		x.refuse(&x.route.family.TooLong)
	case f.Status >= 400:
		x.refuse(&reply.Refusal{
			Status: f.Status, Code: f.Code, RetryAfter: f.RetryAfter,
			Message: "this error was asked for by the prompt",
		})
	case f.Has(reply.EmptyBody):
		x.w.Header().Set("Content-Type", "application/json")
		x.w.WriteHeader(http.StatusOK)
	default:
		return false
	}
	return true
}

// reset closes the connection with a TCP reset if the exchange does not share it.
func (x *exchange) reset() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		x.abort() // HTTP/2, or no socket
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// overloaded returns the error of the faults in mid-answer.
func (x *exchange) overloaded(f *reply.Faults) *reply.Refusal {
	r := x.route.family.Overloaded
	if f.Code != "" {
		r.Code = f.Code
	}
	return &r
}
