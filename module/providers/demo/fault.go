package demo

import (
	"cmp"
	"net"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
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
		x.refuse(tooLong)
	case f.Status >= 400:
		x.refuse(x.withStatus(f))
	case f.Has(reply.EmptyBody):
		x.writeJSON(http.StatusOK, nil)
	default:
		return false
	}
	return true
}

// tooLong refuses a prompt. The words by which clients recognize it are those of their format.
var tooLong = &fault.Fault{
	Kind: fault.Invalid, Code: fault.CodeOverflow,
	Message: "the maximum context length is 128000 tokens, and the prompt has 213462 tokens",
}

// withStatus returns the error of a status that the prompt asks for.
func (x *exchange) withStatus(f *reply.Faults) *fault.Fault {
	reported := &fault.Fault{Kind: fault.Internal, Message: "this error was asked for by the prompt", Code: f.Code, RetryAfter: f.RetryAfter}
	if f.Status < 500 {
		reported.Kind = fault.Invalid
	}
	for kind := fault.Internal; kind <= fault.Timeout; kind++ {
		if x.route.format.Errors.Status(&fault.Fault{Kind: kind}) == f.Status {
			reported.Kind = kind
			return reported
		}
	}
	return reported.WithStatus(f.Status)
}

// failed returns the error of the faults in mid-answer. Its kind follows from its code.
func failed(f *reply.Faults) *fault.Fault {
	code := cmp.Or(f.Code, "server_is_overloaded")
	reported := fault.ReadAnswer(reply.Encode(map[string]any{"error": map[string]string{"message": "the server is overloaded", "code": code}}))
	reported.Code = code
	return reported
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
