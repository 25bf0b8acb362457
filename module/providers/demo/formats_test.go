package demo_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// heard is what the parser of a format reads of an answer.
type heard struct {
	text   string
	calls  []string
	finish event.FinishReason
	input  int64 // tokens
	whole  bool
	fault  *fault.Fault
	events int   // of a stream
	err    error // of the body
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
		h.input = e.Usage.Input()
	case event.End:
		h.whole = true
	case event.Error:
		h.fault = e.Fault
	}
}

// speaker asks in one format.
type speaker struct {
	*caller
	format *format.Descriptor
	stream bool
}

// each checks a claim for every format, with JSON answers and streams, through a socket and
// in-process.
func each(t *testing.T, claim func(*testing.T, *speaker), options ...demo.Option) {
	t.Helper()
	ways(t, func(t *testing.T, c *caller) {
		for _, d := range formats.All() {
			for name, stream := range map[string]bool{" JSON": false, " stream": true} {
				t.Run(d.String()+name, func(t *testing.T) { claim(t, &speaker{&caller{t, c.transport, c.base}, d, stream}) })
			}
		}
	}, options...)
}

// eachStream is each for streams alone.
func eachStream(t *testing.T, claim func(*testing.T, *speaker)) {
	t.Helper()
	each(t, func(t *testing.T, s *speaker) {
		if s.stream {
			claim(t, s)
		}
	})
}

// asking returns a request of the chat format, with further members, in the format.
func (s *speaker) asking(op translate.Operation, prompt, more string) *http.Request {
	s.t.Helper()
	if s.stream {
		more += `,"stream":true,"stream_options":{"include_usage":true}`
	}
	info := core.RequestInfo{Operation: op, Model: "m1", Upstream: "m1"}
	body, _, refused := core.Render(nil, []byte(ask(chatPath, prompt, more)), &info, formats.Unspecified().Requests.Source, s.format.Requests.Target)
	require.Nil(s.t, refused)
	path, query := s.format.Provider.Call(format.Call{Base: "/v1", Model: "m1", Operation: op, Stream: s.stream})
	return s.newRequest(http.MethodPost, path, query, string(body))
}

// newRequest returns a request by which clients of the format are known.
func (s *speaker) newRequest(method, path, query, body string) *http.Request {
	r := s.request(s.t.Context(), method, path+"?"+query, body)
	if s.format.Version.Header != "" {
		r.Header.Set(s.format.Version.Header, "2023-06-01")
	}
	for _, mark := range s.format.Client.Marks {
		r.Header.Set(mark, "x")
	}
	return r
}

// answer returns the answer to a prompt.
func (s *speaker) answer(prompt, more string) *http.Response {
	s.t.Helper()
	response, err := s.transport.RoundTrip(s.asking(translate.Generate, prompt, more))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// hear reads the answer to a prompt.
func (s *speaker) hear(prompt, more string) *heard {
	s.t.Helper()
	response := s.answer(prompt, more)
	require.Equal(s.t, http.StatusOK, response.StatusCode)
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		zip, err := gzip.NewReader(body)
		require.NoError(s.t, err)
		body = zip
	}
	raw, err := io.ReadAll(body)
	h := &heard{err: err}
	p := s.format.Answers.NewParser(h)
	if response.Header.Get("Content-Type") == "application/json" {
		p.Answer(raw)
		return h
	}
	lexer := sse.NewLexer(0)
	lexer.Feed(raw)
	for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
		h.events++
		p.Event(e)
	}
	p.End(err == nil)
	return h
}

// A format that is added has a demo without a line of code: the requests of its writer are answered,
// and its parser reads the answers.
func TestEveryFormatHasADemo(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		h := s.hear("Hello there", "")
		assert.Contains(t, h.text, "This is the demo provider, answering as m1 in the "+s.format.String()+" format.")
		assert.Contains(t, h.text, "there")
		assert.Contains(t, h.text, "1 message.")
		assert.True(t, h.whole)
		assert.Positive(t, h.input)
		assert.Equal(t, event.FinishStop, h.finish)
	}, demo.WithStrict(true))
}

// Other formats have no reader of requests and no emitter: no client may use them.
func TestOnlyFormatsWithoutClientsHaveNoDemo(t *testing.T) {
	for _, d := range formats.OfProviders() {
		answered := d.Requests.Source != nil && d.Answers.NewEmitter != nil
		assert.Equal(t, len(d.Client.Endpoints) > 0, answered, d)
	}
}

func TestTheSameRequestHasTheSameAnswer(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		first := s.read(s.answer("again", ""))
		assert.Equal(t, string(first), string(s.read(s.answer("again", ""))))
		assert.NotEqual(t, string(first), string(s.read(s.answer("once more", ""))))
	})
}

func TestAnswersEndAsThePromptAsks(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		h := s.hear("hi", `,"max_tokens":16`)
		assert.Len(t, strings.Fields(h.text), 16)
		assert.Equal(t, event.FinishLength, h.finish)

		h = s.hear("hi [[filter]]", "")
		assert.Contains(t, h.text, "This is the demo provider")
		assert.NotContains(t, h.text, "You wrote")
		assert.Equal(t, event.FinishFiltered, h.finish)

		h = s.hear("hi [[words:300]]", "")
		assert.Contains(t, h.text, "word1 word2")
		assert.Contains(t, h.text, "word300")
		assert.Contains(t, s.hear("hi [[refuse]]", "").text, "I cannot help with that.")
	})
}

func TestEveryFormatCallsToolsThatItHas(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		if s.format.Answers.Place(&event.Event{Kind: event.ToolStart}) {
			h := s.hear("[[think]] use clock", `,"tools":[{"type":"function","function":{"name":"clock"}}]`)
			assert.Equal(t, []string{"clock"}, h.calls)
		}
	}, demo.WithStrict(true))
}

func TestUnknownMembersAreRefusedInEveryFormatIfStrict(t *testing.T) {
	for strict, want := range map[bool]int{false: http.StatusOK, true: http.StatusBadRequest} {
		each(t, func(t *testing.T, s *speaker) {
			r := s.asking(translate.Generate, "Hello", "")
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			r.Body = io.NopCloser(bytes.NewReader(append(bytes.TrimSuffix(body, []byte("}")), `,"unheard_of":1}`...)))
			r.ContentLength = -1
			response, err := s.transport.RoundTrip(r)
			require.NoError(t, err)
			defer response.Body.Close()
			assert.Equal(t, want, response.StatusCode)
			assert.Equal(t, strict, bytes.Contains(s.read(response), []byte("unheard_of: unknown member")))
		}, demo.WithStrict(strict))
	}
}

func TestTokensAreCountedAsTheyAreCharged(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		if s.format.Answers.TokenCount == nil || s.stream {
			return
		}
		response, err := s.transport.RoundTrip(s.asking(translate.CountTokens, "one two three", ""))
		require.NoError(t, err)
		defer response.Body.Close()
		assert.Equal(t, string(s.format.Answers.TokenCount(nil, 3)), string(s.read(response)))
		assert.EqualValues(t, 3, s.hear("one two three", "").input)
	})
}

func TestModelsAreListedInEveryFormat(t *testing.T) {
	each(t, func(t *testing.T, s *speaker) {
		path, query := s.format.Provider.Models("/v1", "")
		response, err := s.transport.RoundTrip(s.newRequest(http.MethodGet, path, query, ""))
		require.NoError(t, err)
		defer response.Body.Close()
		cards, _, err := modelcard.Read(s.read(response))
		require.NoError(t, err)
		require.Len(t, cards, 2)
		assert.Equal(t, "small", cards[0].ID)

		for name, status := range map[string]int{"large": http.StatusOK, "none": http.StatusNotFound} {
			response, err := s.transport.RoundTrip(s.newRequest(http.MethodGet, path+"/"+name, "", ""))
			require.NoError(t, err)
			_ = response.Body.Close()
			assert.Equal(t, status, response.StatusCode, name)
		}
	}, demo.WithModels("small", "large"))
}
