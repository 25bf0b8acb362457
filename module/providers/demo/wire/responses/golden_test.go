package responses_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/responses"
)

var update = flag.Bool("update", false, "write the golden files")

const tools = `"tools":[{"type":"function","name":"clock","parameters":{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}},
	{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/s"}},
	{"type":"namespace","name":"files","description":"d","tools":[{"type":"function","name":"list"}]},{"type":"web_search"}]`

// exchanges are requests by the name of their golden files: NAME.json is the answer, NAME.sse
// its stream.
var exchanges = map[string]string{
	"text":          `"input":"hi","instructions":"be brief"`,
	"reasoning":     `"input":"call clock","reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],` + tools,
	"hidden":        `"input":"hi","reasoning":{"effort":"high"},"include":["reasoning.encrypted_content"],"text":{"format":{"type":"json_object"}}`,
	"parallel":      `"input":"call clock, list and apply_patch",` + tools,
	"forced":        `"input":"hi","tool_choice":{"type":"custom","name":"apply_patch"},` + tools,
	"results":       `"input":[{"role":"user","content":"use clock"},{"type":"function_call","call_id":"c","name":"clock","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"noon"}]`,
	"structured":    `"input":"hi","text":{"format":{"type":"json_schema","name":"s","schema":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}}}`,
	"refusal":       `"input":"[[refuse]]"`,
	"filtered":      `"input":"hi [[filter]]"`,
	"cut-text":      `"input":"hi","max_output_tokens":3`,
	"cut-arguments": `"input":"use clock","max_output_tokens":4,` + tools,
	"cut-reasoning": `"input":"hi","max_output_tokens":7,"reasoning":{"summary":"detailed"}`,
	"logprobs":      `"input":"hi","max_output_tokens":2,"include":["message.output_text.logprobs"],"top_logprobs":1`,
	"obfuscated":    `"input":"hi","max_output_tokens":3,"stream":true,"stream_options":{"include_obfuscation":true}`,
	"null-content":  `"input":"[[fault:null-content]]"`,
	"without-usage": `"input":"[[refuse]] [[fault:no-usage]]"`,
	"without-seal":  `"input":"[[think]] [[fault:no-signature]]","reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"]`,
}

// answer returns the answer to a request, which is given without braces and model.
func answer(t *testing.T, members string) (*reply.Answer, wire.Writer) {
	t.Helper()
	body := wire.NewBody([]byte(`{"model":"m1",`+members+`}`), responses.Format.Family, false)
	request, writer := responses.Format.Endpoints[0].Generate(body)
	require.Nil(t, body.Refused())
	require.Nil(t, request.Prepare())
	request.Format = responses.Format.Name
	return reply.Compose(request, reply.Seed{Created: 1_700_000_000}), writer
}

func streamed(a *reply.Answer, w wire.Writer) []byte {
	var b bytes.Buffer
	w.Stream(a, func(e wire.Event) { fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Name, e.Data) })
	return b.Bytes()
}

func whole(t *testing.T, a *reply.Answer, w wire.Writer) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, reply.Encode(w.Whole(a)), "", "  "))
	return append(b.Bytes(), '\n')
}

func TestAnswersAreTheGoldenOnes(t *testing.T) {
	for name, members := range exchanges {
		t.Run(name, func(t *testing.T) {
			a, w := answer(t, members)
			golden(t, name+".json", whole(t, a, w))
			golden(t, name+".sse", streamed(a, w))
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

// The reader follows the rules of the official clients.
func TestStreamsAreLawfulAndEqualTheirJSON(t *testing.T) {
	for name, members := range exchanges {
		t.Run(name, func(t *testing.T) {
			a, w := answer(t, members)
			stream, err := client.ReadResponseStream(bytes.NewReader(streamed(a, w)))
			require.NoError(t, err)
			assert.True(t, stream.Complete)
			stream.Complete = false
			parsed, err := client.ParseResponse(reply.Encode(w.Whole(a)))
			require.NoError(t, err)
			assert.Equal(t, parsed, stream)
		})
	}
}

// The fault no-finish leaves out everything after the last content; no-done leaves out only
// the terminal event.
func TestOnlyWhatFollowsTheContentIsTheFinish(t *testing.T) {
	for name, members := range exchanges {
		t.Run(name, func(t *testing.T) {
			last := wire.Frame
			a, w := answer(t, members)
			w.Stream(a, func(e wire.Event) {
				if last >= wire.Finish {
					assert.Greater(t, e.Kind, wire.Content, "%s follows the finish", e.Name)
				}
				assert.NotEqual(t, wire.Terminal, last, "%s follows the end", e.Name)
				last = e.Kind
			})
			assert.Equal(t, wire.Terminal, last)
		})
	}
}

func TestAFailureContinuesTheNumbersOfTheStream(t *testing.T) {
	a, w := answer(t, `"input":"hi"`)
	refused := &reply.Refusal{Status: 503, Code: "server_is_overloaded", Message: "m"}
	first := w.FailedEvent(a, refused, 0)
	assert.Equal(t, "error", first.Name)
	assert.JSONEq(t, `{"type":"error","code":"server_is_overloaded","message":"m","param":null,"sequence_number":0}`, string(first.Data))

	var events []string
	w.Stream(a, func(e wire.Event) { events = append(events, fmt.Sprintf("event: %s\ndata: %s\n\n", e.Name, e.Data)) })
	var stream bytes.Buffer
	for _, e := range events[:7] {
		stream.WriteString(e)
	}
	later := w.FailedEvent(a, refused, 7)
	fmt.Fprintf(&stream, "event: %s\ndata: %s\n\n", later.Name, later.Data)
	r, err := client.ReadResponseStream(&stream)
	require.NoError(t, err)
	assert.Equal(t, client.Failure{Type: "response.failed", Code: "server_is_overloaded", Message: "m"}, *r.Failure)
	assert.Equal(t, "This is the", r.Text())
}
