package demo

import (
	"crypto/sha256"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
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
func (x *exchange) open() *reply.Refusal {
	for _, check := range []func() *reply.Refusal{
		x.checkMethod, x.checkCredential, x.checkVersion, func() *reply.Refusal { return x.route.refuse }, x.checkContent, x.readBody,
	} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

func (x *exchange) checkMethod() *reply.Refusal {
	if slices.Contains(x.route.methods, x.r.Method) {
		return nil
	}
	x.w.Header().Set("Allow", strings.Join(x.route.methods, ", "))
	return &reply.Refusal{Status: http.StatusMethodNotAllowed, Message: "this method is not allowed here"}
}

func (x *exchange) checkCredential() *reply.Refusal {
	key, header := x.engine.key, x.route.family.KeyHeader
	if key == "" || x.r.Header.Get("Authorization") == "Bearer "+key {
		return nil
	}
	if header != "" && x.r.Header.Get(header) == key {
		return nil
	}
	return &reply.Refusal{Status: http.StatusUnauthorized, Message: "the API key is not valid", Code: "invalid_api_key"}
}

func (x *exchange) checkVersion() *reply.Refusal {
	name := x.route.family.VersionHeader
	if name == "" || x.r.Header.Get(name) != "" {
		return nil
	}
	return &reply.Refusal{Status: http.StatusBadRequest, Message: strings.ToLower(name) + ": header is required"}
}

func (x *exchange) checkContent() *reply.Refusal {
	if x.r.Method != http.MethodPost {
		return nil
	}
	if coding := x.r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return &reply.Refusal{Status: http.StatusBadRequest, Message: "content-encoding: only plain bodies are read"}
	}
	if media, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type")); media != "application/json" {
		return &reply.Refusal{Status: http.StatusUnsupportedMediaType, Message: "content-type: must be application/json"}
	}
	return nil
}

func (x *exchange) readBody() *reply.Refusal {
	if x.r.Body == nil {
		return nil
	}
	var err error
	x.body, err = io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, MaxBody))
	x.seed = reply.Seed{Hash: sha256.Sum256(x.body), Created: x.engine.now().Unix()}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &reply.Refusal{Status: http.StatusRequestEntityTooLarge, Message: "request body: too large"}
	}
	if err != nil {
		return &reply.Refusal{Status: http.StatusBadRequest, Message: "request body: not readable to its end"}
	}
	return nil
}

func (x *exchange) refuse(r *reply.Refusal) {
	if r.RetryAfter != "" {
		x.w.Header().Set("Retry-After", r.RetryAfter)
	}
	x.writeJSON(r.Status, x.route.family.Error(r, x.seed.RequestID()))
}

func (x *exchange) writeJSON(status int, v any) {
	x.setHeader("application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(reply.Encode(v)) // a client that left needs no answer
}

// setHeader sets the headers that every answer has.
func (x *exchange) setHeader(contentType string) {
	x.w.Header().Set(x.route.family.RequestIDHeader, x.seed.RequestID())
	x.w.Header().Set("Content-Type", contentType)
}
