package translatetest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// FuzzParser reads anything as an answer of a format: the core events must keep the laws.
// The seeds are the format's fixtures. It is for tests in translate/<format>/answer.
func FuzzParser[P Parser](f *testing.F, format translate.Format, parser func(event.Handler) P) {
	f.Helper()
	for _, pattern := range []string{"streams/%/*.sse", "goldens/answers/%/*.json", "goldens/exchanges/*/answer.%.*"} {
		addFiles(f, "../../../testdata/"+strings.ReplaceAll(pattern, "%", string(format)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, Parse(func(h event.Handler) Parser { return parser(h) }, data))
	})
}

// addFiles adds files as seeds.
func addFiles(f *testing.F, pattern string) {
	f.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(f, err)
	require.NotEmpty(f, paths, pattern)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
}

// Fuzz checks the answers of all scripts; see Check. steps is a seed.
func (r RoundTrip) Fuzz(f *testing.F, steps ...byte) {
	f.Helper()
	f.Add(steps)
	f.Fuzz(func(t *testing.T, steps []byte) { require.NoError(t, r.Check(steps)) })
}

// IDs returns ids for emitters. The ids of tool calls are prefix with a number.
func IDs(message, prefix string) translate.IDs {
	n := 0
	return translate.IDs{Message: message, Created: 5, Model: "asked", NewToolID: func() string {
		n++
		return prefix + strconv.Itoa(n)
	}}
}

// Requests fuzzes the function of a format that validates requests.
type Requests struct {
	Inspect       func(body []byte, op translate.Operation) (translate.View, *fault.Fault)
	Operation     translate.Operation
	StreamOptions bool // the format has the option include_usage
}

// maxSeed bounds the seeds of Requests.Fuzz, in bytes.
const maxSeed = 4096

// Fuzz checks that an accepted request is valid JSON for other decoders, that they
// find the same model and options in it, and that the body without the parts that the
// gateway signed itself is valid, too. The seeds are bodies of up to 4 KiB.
func (r Requests) Fuzz(f *testing.F, bodies []string) {
	f.Helper()
	for _, body := range bodies {
		if len(body) < maxSeed {
			f.Add([]byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		view, fault := r.Inspect(body, r.Operation)
		if fault != nil {
			require.NotEmpty(t, fault.Message)
			return
		}
		r.requireView(t, body, &view)
	})
}

// requireView requires that a view agrees with the body.
func (r Requests) requireView(t *testing.T, body []byte, view *translate.View) {
	t.Helper()
	// A map, because the decoder of structs ignores the case of names.
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(withoutMark(body), &members))
	require.Equal(t, view.Model, decoded[string](t, members["model"]))
	require.Equal(t, view.Stream, decoded[bool](t, members["stream"]))
	if r.StreamOptions {
		options := decoded[map[string]json.RawMessage](t, members["stream_options"])
		require.Equal(t, view.StreamUsage.Asked, decoded[bool](t, options["include_usage"]))
	}
	require.Equal(t, string(members["model"]), string(body[view.ModelSpan.Start:view.ModelSpan.End]))
	require.Equal(t, byte('}'), body[view.StreamUsage.End])
	require.True(t, json.Valid(withoutMark(Without(body, view.SelfSigned))))
}

// withoutMark removes the byte order mark, which encoding/json does not accept.
func withoutMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

// Without returns a body without the spans, which are in ascending order.
func Without(body []byte, spans []translate.Span) []byte {
	kept, start := []byte(nil), 0
	for _, span := range spans {
		kept = append(kept, body[start:span.Start]...)
		start = span.End
	}
	return append(kept, body[start:]...)
}

// decoded decodes a value. An absent value is the zero value.
func decoded[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if raw != nil {
		require.NoError(t, json.Unmarshal(raw, &v))
	}
	return v
}
