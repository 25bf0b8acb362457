package demo

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// exchange is one request with the state of its answer.
type exchange struct {
	engine *Engine
	w      http.ResponseWriter
	r      *http.Request
	route  route
	body   []byte
	seed   reply.Seed
}

// open checks the method, the credential and the headers of a request, and reads the body.
func (x *exchange) open() *fault.Fault {
	for _, check := range []func() *fault.Fault{x.checkMethod, x.checkCredential, x.checkVersion, x.checkContent, x.readBody} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

func (x *exchange) checkMethod() *fault.Fault {
	if x.r.Method == x.route.method {
		return nil
	}
	x.w.Header().Set("Allow", x.route.method)
	return fault.WrongMethod(x.route.method)
}

func (x *exchange) checkCredential() *fault.Fault {
	key, header := x.engine.key, x.route.format.Client.KeyHeader
	has := func(header, value string) bool {
		return subtle.ConstantTimeCompare([]byte(x.r.Header.Get(header)), []byte(value)) == 1
	}
	if key == "" || has("Authorization", "Bearer "+key) || header != "" && has(header, key) {
		return nil
	}
	return fault.BadKey()
}

func (x *exchange) checkVersion() *fault.Fault {
	version := x.route.format.Version
	if version.Check == nil {
		return nil
	}
	return version.Check(x.r.Header.Values(version.Header))
}

func (x *exchange) checkContent() *fault.Fault {
	if x.r.Method != http.MethodPost {
		return nil
	}
	if coding := x.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return &fault.Fault{Kind: fault.Invalid, Message: "content-encoding: only plain bodies are read"}
	}
	if media, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type")); media != "application/json" {
		return &fault.Fault{Kind: fault.UnsupportedMediaType, Message: "content-type: must be application/json"}
	}
	return nil
}

func (x *exchange) readBody() *fault.Fault {
	var err error
	x.body, err = io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, MaxBody))
	x.seed = reply.Seed{Hash: sha256.Sum256(x.body), Created: x.engine.now().Unix()}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &fault.Fault{Kind: fault.TooLarge, Message: "request body: too large"}
	}
	if err != nil {
		return &fault.Fault{Kind: fault.Invalid, Message: "request body: not readable to its end"}
	}
	return nil
}

func (x *exchange) refuse(f *fault.Fault) {
	if f.RetryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	errors := &x.route.format.Errors
	x.writeJSON(errors.Status(f), errors.Append(nil, f, x.seed.RequestID()))
}

func (x *exchange) writeJSON(status int, body []byte) {
	x.setHeader("application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body) // a client that left needs no answer
}

// setHeader sets the headers that every answer has. Each format has one of the names for the id.
func (x *exchange) setHeader(contentType string) {
	x.w.Header().Set("Request-Id", x.seed.RequestID())
	x.w.Header().Set("X-Request-Id", x.seed.RequestID())
	x.w.Header().Set("Content-Type", contentType)
}
