package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Request is a request to a service.
type Request struct {
	// Service is the first segment of the path.
	Service string
	Format  Format
	// Model is the name in the path or else in the body.
	Model string
	// Body is the body as JSON, or the fields of a form.
	Body map[string]any
}

// The ends of the paths of models, and of endpoints whose bodies name the model.
var (
	modelPath = regexp.MustCompile(`/models?/([^/]+)[:/](generateContent|rawPredict|invoke|converse)$`)
	endpoints = []struct {
		end    string
		format Format
	}{
		{"/chat/completions", Chat},
		{"/completions", Completions},
		{"/responses", Responses},
		{"/messages", Messages},
		{"/transcriptions", Recordings},
		{"/chat", Cohere},
	}
	methods = map[string]Format{"generateContent": Gemini, "rawPredict": Messages, "invoke": Messages, "converse": Converse}
)

var errPath = errors.New("no such endpoint")

// Read reads a request. Its path begins with the name of the service.
func Read(r *http.Request) (*Request, error) {
	q := new(Request)
	var path string
	q.Service, path, _ = strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if found := modelPath.FindStringSubmatch("/" + path); found != nil {
		q.Model, q.Format = found[1], methods[found[2]]
	}
	for _, e := range endpoints {
		if q.Format == "" && strings.HasSuffix("/"+path, e.end) {
			q.Format = e.format
		}
	}
	if !slices.Contains(strings.Fields(formats[q.Service]), string(q.Format)) {
		return nil, fmt.Errorf("reading %s: %w", r.URL.Path, errPath)
	}
	if err := q.readBody(r); err != nil {
		return nil, err
	}
	if q.Model == "" {
		q.Model, _ = q.Body["model"].(string)
	}
	var err error
	if q.Model, err = url.PathUnescape(q.Model); err != nil {
		return nil, fmt.Errorf("reading name of model: %w", err)
	}
	q.count()
	return q, nil
}

func (q *Request) readBody(r *http.Request) error {
	if q.Format == Recordings {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			return fmt.Errorf("reading form: %w", err)
		}
		q.Body = make(map[string]any)
		for name, values := range r.MultipartForm.Value {
			q.Body[strings.TrimSuffix(name, "[]")] = values[0]
		}
		return nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("reading body: %w", err)
	}
	if err := json.Unmarshal(raw, &q.Body); err != nil {
		return fmt.Errorf("decoding body: %w", err)
	}
	return nil
}

// inputTokens and totalTokens are members that no service has, for conditions on the context: an
// estimate of the tokens of the request, and these with the bound of the answer.
const (
	inputTokens = "#input"
	totalTokens = "#total"
)

// count adds these members.
func (q *Request) count() {
	raw, _ := json.Marshal(q.Body) // has been decoded
	input := float64(len(raw) / 4)
	total := input
	for _, n := range q.Find("bound") {
		total += size(n)
	}
	q.Body[inputTokens], q.Body[totalTokens] = input, total
}

// New returns a short request in a format that every model accepts, with further members.
func New(service string, f Format, model string, members Set) *Request {
	q := &Request{Service: service, Format: f, Model: model, Body: map[string]any{"model": model}}
	turn := []any{map[string]any{"role": "user", "content": "hello"}}
	switch f {
	case Completions:
		q.Body["prompt"] = "hello"
	case Responses:
		q.Body["input"] = "hello"
	case Gemini:
		q.Body = map[string]any{"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hello"}}}}}
	case Converse:
		q.Body = map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"text": "hello"}}}}}
	case Messages:
		q.Body["messages"], q.Body["max_tokens"] = turn, 100
	case Recordings:
	default:
		q.Body["messages"] = turn
	}
	for path, value := range members {
		put(q.Body, strings.Split(pathsOf(f, path)[0], "."), value)
	}
	raw, _ := json.Marshal(q.Body) // literals of rules
	_ = json.Unmarshal(raw, &q.Body)
	q.count()
	return q
}

// put sets the member at a path.
func put(object map[string]any, path []string, value any) {
	if len(path) == 1 {
		object[path[0]] = value
		return
	}
	inner, _ := object[path[0]].(map[string]any)
	if inner == nil {
		inner = make(map[string]any)
		object[path[0]] = inner
	}
	put(inner, path[1:], value)
}
