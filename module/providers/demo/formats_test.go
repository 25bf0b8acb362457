package demo_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// heard is what the parser of a format reads of an answer.
type heard struct {
	text           string
	calls          []string
	finish         event.FinishReason
	counted, whole bool
	fault          error
}

// Handle implements event.Handler.
func (h *heard) Handle(e *event.Event) {
	switch e.Kind {
	case event.Text:
		h.text += string(e.Text)
	case event.ToolStart:
		h.calls = append(h.calls, string(e.Name))
	case event.Finish:
		h.finish = e.Finish
	case event.Usage:
		h.counted = e.Usage.Known && e.Usage.Input() > 0
	case event.End:
		h.whole = true
	case event.Error:
		h.fault = e.Fault
	}
}

// rendered returns a request of the chat format as one of another format.
func rendered(t testing.TB, d *format.Descriptor, prompt, more string) []byte {
	t.Helper()
	info := core.RequestInfo{Model: "m1", Upstream: "m1"}
	body, _, refused := core.Render(nil, []byte(ask(chatPath, prompt, more)), &info, formats.Unspecified().Requests.Source, d.Requests.Target)
	require.Nil(t, refused)
	return body
}

// sendIn sends a request in a format.
func (c *caller) sendIn(d *format.Descriptor, body []byte, stream bool) *http.Response {
	c.t.Helper()
	path, query := d.Provider.Call(format.Call{Base: "/v1", Model: "m1", Operation: translate.Generate, Stream: stream})
	r := c.request(c.t.Context(), http.MethodPost, path+"?"+query, string(body))
	if d.Version.Header != "" {
		r.Header.Set(d.Version.Header, "2023-06-01")
	}
	response, err := c.transport.RoundTrip(r)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// answered returns the answer of the demo provider in a format.
func (c *caller) answered(d *format.Descriptor, prompt, more string, stream bool) *heard {
	c.t.Helper()
	if stream {
		more += `,"stream":true,"stream_options":{"include_usage":true}`
	}
	raw := c.read(c.sendIn(d, rendered(c.t, d, prompt, more), stream))
	h := &heard{}
	p := d.Answers.NewParser(h)
	if !stream {
		p.Answer(raw)
		return h
	}
	lexer := sse.NewLexer(0)
	lexer.Feed(raw)
	for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
		p.Event(e)
	}
	p.End(true)
	return h
}

// A format that is added has a demo without a line of code: the requests of its writer are answered,
// and its parser reads the answers.
func TestEveryFormatHasADemo(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		for _, d := range formats.All() {
			for _, stream := range []bool{false, true} {
				h := c.answered(d, "Hello there", "", stream)
				assert.Contains(t, h.text, "answering as m1 in the "+d.String()+" format", d)
				assert.Contains(t, h.text, "there", d)
				assert.True(t, h.whole, d)
				assert.True(t, h.counted, d)
				assert.Equal(t, event.FinishStop, h.finish, d)

				assert.Equal(t, event.FinishLength, c.answered(d, "Hello", `,"max_tokens":3`, stream).finish, d)
				failed := c.answered(d, "[[fault:error-event]]", "", stream)
				require.Error(t, failed.fault, d)
				assert.False(t, failed.whole, d)

				if d.Answers.Place(&event.Event{Kind: event.ToolStart}) {
					h = c.answered(d, "[[think]] use clock", `,"tools":[{"type":"function","function":{"name":"clock"}}]`, stream)
					assert.Equal(t, []string{"clock"}, h.calls, d)
				}
			}
		}
	}, demo.WithStrict(true))
}

// Other formats have no reader of requests and no emitter: no client may use them.
func TestOnlyFormatsWithoutClientsHaveNoDemo(t *testing.T) {
	for _, d := range formats.OfProviders() {
		answered := d.Requests.Source != nil && d.Answers.NewEmitter != nil
		assert.Equal(t, len(d.Client.Endpoints) > 0, answered, d)
	}
}

func TestUnknownMembersAreRefusedInEveryFormatIfStrict(t *testing.T) {
	for strict, want := range map[bool]int{false: http.StatusOK, true: http.StatusBadRequest} {
		ways(t, func(t *testing.T, c *caller) {
			for _, d := range formats.All() {
				body := rendered(t, d, "Hello", "")
				body = append(bytes.TrimSuffix(body, []byte("}")), `,"unheard_of":1}`...)
				response := c.sendIn(d, body, false)
				raw := c.read(response)
				assert.Equal(t, want, response.StatusCode, d)
				assert.Equal(t, strict, bytes.Contains(raw, []byte("unheard_of: unknown member")), "%s: %s", d, raw)
			}
		}, demo.WithStrict(strict))
	}
}
