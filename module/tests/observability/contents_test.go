package observability_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// chunk returns an event of a stream of chat. The arguments are JSON.
func chunk(delta, finish string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

// chatStream returns the events of a stream of chat with a text, and without an end if finish is "".
func chatStream(text, finish string) string {
	events := chunk(`{"role":"assistant","content":"`+text+`"}`, "null")
	if finish != "" {
		events += chunk(`{}`, `"`+finish+`"`) + "data: [DONE]\n\n"
	}
	return events
}

// Contents are in the span of the request alone, masked and bounded, and only where asked for.
func TestContentsAreInTracesByChoice(t *testing.T) {
	const asked = "log_content {\nto traces\nmodels shown*\nredact pii\nmax_size 60B\n}"
	for _, tt := range []struct {
		name, lines, model, answer, finish, wantInput, wantOutput string
	}{
		{"masked", asked, "shown", "write to a@b.example", "stop",
			`[{"role":"user","parts":[{"type":"text","content":"my [email]"}]}]`,
			`[{"role":"assistant","parts":[{"type":"text","content":"write to [email]"}],"finish_reason":"stop"}]`},
		{"bounded", asked, "shown", strings.Repeat("x", 70), "length",
			`[{"role":"user","parts":[{"type":"text","content":"my [email]"}]}]`,
			`[{"role":"assistant","parts":[{"type":"text","content":"` + strings.Repeat("x", 60) + `…"}],"finish_reason":"length"}]`},
		{"broken off", asked, "shown", "half", "",
			`[{"role":"user","parts":[{"type":"text","content":"my [email]"}]}]`,
			`[{"role":"assistant","parts":[{"type":"text","content":"half"}],"finish_reason":"error"}]`},
		{"another model", asked, "hidden", "write to a@b.example", "stop", "", ""},
		{"not asked for", "log_content {\nmodels shown\n}", "shown", "write to a@b.example", "stop", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spans.Reset()
			t.Setenv("OTEL_TRACES_EXPORTER", "memory")
			p := gatewaytest.NewProvider(t)
			s := site.StartCaddyfile(t, site.Block("tracing {\nspan site\n}", site.Direct.Provider("p", p, "format chat"), "guard pii regex {\nmask email\nmodels nothing\n}", tt.lines))
			p.Script(gatewaytest.Chunks("text/event-stream", chatStream(tt.answer, tt.finish)))
			s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, tt.model, "my a@b.example", true))
			calls, whole := finish(t, s)
			all := attributesOf(whole)
			if tt.wantInput == "" {
				assert.NotContains(t, all, "gen_ai.input.messages")
				assert.NotContains(t, all, "gen_ai.output.messages")
			} else {
				assert.Equal(t, tt.wantInput, all["gen_ai.input.messages"])
				assert.Equal(t, tt.wantOutput, all["gen_ai.output.messages"])
				s.AssertNoEntry("write to")
			}
			for _, span := range calls {
				assert.NotContains(t, attributesOf(span), "gen_ai.input.messages")
			}
		})
	}
}

// fields returns the values of a field with lengths of a message of protobuf. It panics if the
// message is cut.
func fields(message []byte, number uint64) (values [][]byte) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		value, skipped := binary.Uvarint(message[n:])
		switch message = message[n:]; tag & 7 {
		case 0:
			message = message[skipped:]
		case 1:
			message = message[8:]
		case 2:
			end := skipped + int(value)
			if tag>>3 == number {
				values = append(values, message[skipped:end])
			}
			message = message[end:]
		case 5:
			message = message[4:]
		default:
			panic("the type of a field is unknown")
		}
	}
	return values
}

// langfuse takes spans as Langfuse does: it refuses what is not in the protocol, or without the keys
// of the project.
type langfuse struct {
	sync.Mutex
	spans map[string]map[string]string // the texts among the attributes, by the name of the span
}

func (l *langfuse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	public, secret, _ := r.BasicAuth()
	switch {
	case r.URL.Path != "/api/public/otel/v1/traces" || r.Method != http.MethodPost:
		w.WriteHeader(http.StatusNotFound)
		return
	case public != "pk-lf-1" || secret != "sk-lf-1":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Langfuse-Ingestion-Version") != "4":
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	l.take(body)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// take reads an ExportTraceServiceRequest.
func (l *langfuse) take(body []byte) {
	l.Lock()
	defer l.Unlock()
	for _, resource := range fields(body, 1) {
		for _, scope := range fields(resource, 2) {
			for _, span := range fields(scope, 2) {
				texts := make(map[string]string)
				for _, attribute := range fields(span, 9) {
					for _, value := range fields(attribute, 2) {
						for _, text := range fields(value, 1) {
							texts[string(fields(attribute, 1)[0])] = string(text)
						}
					}
				}
				l.spans[string(fields(span, 5)[0])] = texts
			}
		}
	}
}

// The configuration of the page reaches Langfuse.
func TestThePageOfTracesReachesLangfuse(t *testing.T) {
	page, err := os.ReadFile("../../../caddyfile/docs/traces.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "shown by [Langfuse]")
	_, rest, _ = strings.Cut(rest, "```\n")
	caddyfile, rest, _ := strings.Cut(rest, "```\n")
	_, rest, _ = strings.Cut(rest, "```text\n")
	environment, _, _ := strings.Cut(rest, "```")

	l := &langfuse{spans: make(map[string]map[string]string)}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("GATEWAY_KEY", "sk-gateway-0123456789abcdef")
	for line := range strings.Lines(environment) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		t.Setenv(name, strings.Replace(value, "https://cloud.langfuse.com", server.URL, 1))
	}
	caddyfile = strings.Replace(caddyfile, "ai.example.com", "http://127.0.0.1:PORT(site)", 1)
	s := site.StartCaddyfile(t, strings.Replace(caddyfile, "provider anthropic {env.ANTHROPIC_API_KEY}", site.DemoProvider, 1))
	const card = "4111 1111 1111 1111"
	refused := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "demo", "my card "+card, false), "X-Api-Key", "sk-gateway-0123456789abcdef", "Authorization", "")
	require.Equal(t, http.StatusBadRequest, refused.Status, "the guard blocks it")
	answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "demo", "hello", true), "X-Api-Key", "sk-gateway-0123456789abcdef", "Authorization", "")
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider))) // at which Caddy exports its spans

	l.Lock()
	defer l.Unlock()
	require.Contains(t, l.spans, "ai")
	span := l.spans["ai"]
	assert.Equal(t, "chat", span["gen_ai.operation.name"])
	assert.Equal(t, `[{"role":"user","parts":[{"type":"text","content":"hello"}]}]`, span["gen_ai.input.messages"])
	assert.Regexp(t, `^\[\{"role":"assistant","parts":\[\{"type":"text","content":".+"\}\],"finish_reason":"stop"\}\]$`, span["gen_ai.output.messages"])
	for name, texts := range l.spans {
		for attribute, text := range texts {
			assert.NotContains(t, text, "4111", "%s: %s", name, attribute)
		}
	}
}

// What callbacks of other gateways for Langfuse have lost or doubled, by their reports.
func TestContentsAreWholeAndThereOnce(t *testing.T) {
	const (
		hi    = `{"type":"text","content":"hi"}`
		there = `[{"role":"assistant","parts":[{"type":"text","content":"Hi there"}],"finish_reason":"stop"}]`
	)
	events := func(chunks ...string) []gatewaytest.Step {
		return []gatewaytest.Step{gatewaytest.Chunks("text/event-stream", append(chunks, "data: [DONE]\n\n")...)}
	}
	type report struct {
		name, path, body string
		steps            []gatewaytest.Step
		input, output    string
	}
	reports := []report{
		{"calls and results of tools, litellm#13764", site.ChatPath,
			`{"model":"m","messages":[{"role":"system","content":"short"},{"role":"user","content":"hi"},
				{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},
				{"role":"tool","tool_call_id":"1","content":"the text"}],"tools":[{"type":"function","function":{"name":"read"}}],"stream":true}`,
			events(chunk(`{"tool_calls":[{"index":0,"id":"2","type":"function","function":{"name":"read","arguments":"{\"path\""}}]}`, "null"),
				chunk(`{"tool_calls":[{"index":0,"function":{"arguments":":\"b\"}"}}]}`, "null"), chunk(`{}`, `"tool_calls"`)),
			`[{"role":"user","parts":[` + hi + `]},{"role":"assistant","parts":[{"type":"tool_call","name":"read","arguments":{"path":"a"}}]},{"role":"tool","parts":[{"type":"tool_call_response","response":"the text"}]}]`,
			`[{"role":"assistant","parts":[{"type":"tool_call","name":"read","arguments":{"path":"b"}}],"finish_reason":"tool_call"}]`},
		{"two ends of one stream, litellm#1172", site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", true),
			events(chunk(`{"content":"Hi there"}`, "null"), chunk(`{}`, `"stop"`), chunk(`{}`, `"stop"`)),
			`[{"role":"user","parts":[` + hi + `]}]`, there},
		{"a filter in the middle, litellm#3795", site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", true),
			events(chunk(`{"content":"Hi "}`, "null"), chunk(`{}`, `"content_filter"`)),
			`[{"role":"user","parts":[` + hi + `]}]`, `[{"role":"assistant","parts":[{"type":"text","content":"Hi "}],"finish_reason":"content_filter"}]`},
		{"a fallback, litellm#7477", site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", true),
			append([]gatewaytest.Step{gatewaytest.Status(529)}, events(chunk(`{"content":"Hi there"}`, "null"), chunk(`{}`, `"stop"`))...),
			`[{"role":"user","parts":[` + hi + `]}]`, there},
		{"a failure, litellm#9846", site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", true),
			[]gatewaytest.Step{gatewaytest.Status(529), gatewaytest.Status(529)}, `[{"role":"user","parts":[` + hi + `]}]`, ""},
	}
	for _, path := range site.CallPaths { // litellm#36361: streams of responses; litellm#829: all streams
		stream := []gatewaytest.Step{gatewaytest.Chunks("text/event-stream", site.Streams[path]...)}
		reports = append(reports,
			report{"stream " + path, path, site.BodyFor(path, "m", "hi", true), stream, `[{"role":"user","parts":[` + hi + `]}]`, there},
			report{"JSON " + path, path, site.BodyFor(path, "m", "hi", false), nil, `[{"role":"user","parts":[` + hi + `]}]`, "as sent"})
	}
	for _, tt := range reports {
		t.Run(tt.name, func(t *testing.T) {
			spans.Reset()
			t.Setenv("OTEL_TRACES_EXPORTER", "memory")
			first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
			s := site.StartCaddyfile(t, site.Block("tracing {\nspan site\n}", site.Direct.Provider("first", first, "models 1"), site.Direct.Provider("second", second, "models 2"),
				"model m {\nto first\nto second\n}", "log_content {\nto traces\n}"))
			for i, step := range tt.steps {
				if p := []*gatewaytest.Provider{first, second}[i]; tt.output == "" {
					p.Always(step)
				} else {
					p.Script(step)
				}
			}
			answer := s.Ask(tt.path, tt.body)
			calls, whole := finish(t, s)
			all := attributesOf(whole)
			assert.JSONEq(t, tt.input, all["gen_ai.input.messages"].(string))
			output, _ := all["gen_ai.output.messages"].(string)
			switch tt.output {
			case "":
				assert.Empty(t, output)
				assert.Contains(t, all, "error.type")
			case "as sent":
				match := regexp.MustCompile(`^\[{"role":"assistant","parts":\[{"type":"text","content":"(.+)"}],"finish_reason":"stop"}]$`).FindStringSubmatch(output)
				require.Len(t, match, 2, output)
				assert.Contains(t, answer.Body, match[1])
			default:
				assert.JSONEq(t, tt.output, output)
			}
			for _, span := range calls {
				assert.Equal(t, whole.SpanContext.TraceID(), span.SpanContext.TraceID(), "litellm#14020")
				assert.NotContains(t, attributesOf(span), "gen_ai.output.messages")
			}
		})
	}
}
