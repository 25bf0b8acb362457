package pairs_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// whole returns a target whose writer gets long texts with their middle.
func whole(t *core.Target) *core.Target {
	return &core.Target{
		Format: t.Format, Outcomes: t.Outcomes, New: t.New, Reserved: t.Reserved, DistinctCallIDs: t.DistinctCallIDs,
		ShortCallIDs: t.ShortCallIDs, Nested: t.Nested,
	}
}

// lengthened returns a body whose texts, media and descriptions are long. The ends of texts are
// those of the body, or else white space, or escapes.
func lengthened(t testing.TB, body []byte, end string) []byte {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&v))
	filler := strings.Repeat("A \"text\" of größe,\\\n", 210) + end
	var lengthen func(name string, v any) any
	lengthen = func(name string, v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = lengthen(name, v[i])
			}
		case map[string]any:
			for name, value := range v {
				v[name] = lengthen(name, value)
			}
		case string:
			switch name {
			case "text", "content", "prompt", "input", "instructions", "system", "description", "thinking", "output":
				return v + filler + v
			case "data", "image_url", "url", "file_data":
				if n := len(v) % 4; n == 0 || strings.HasPrefix(v, "data:") {
					return strings.TrimRight(v, "=") + strings.Repeat("AAAA", 1100)
				}
			}
		}
		return v
	}
	out, err := json.Marshal(lengthen("", v))
	require.NoError(t, err)
	return out
}

// The middle of a long text never passes through a writer: what the request is without that
// shows that no writer depends on it, and that none writes a mark.
func TestLongTextsAreWhereTheirMarksWere(t *testing.T) {
	marked, spaces := map[translate.Format]int{}, strings.Repeat(" \n", 150)
	targets := map[translate.Format]*core.Target{}
	for _, format := range formats.OfProviders() {
		targets[format.Name] = format.Requests.Target
	}
	for _, e := range exchanges {
		for source, body := range requestsOf(t, e.name) {
			for target := range targets {
				if !pairs.CanTranslate(source, target) {
					continue
				}
				from, to := formats.Of(source).Requests.Source, targets[target]
				for i, traits := range append(fuzzTraits, e.traits[target]) {
					for _, end := range [][]string{{"", spaces}, {"", strings.Repeat("\\", 301)}, {strings.Repeat("ü", 150)}}[i%3] {
						long := lengthened(t, body, end)
						info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, traits), Seals: sealer}
						want, r, refused := core.Render(nil, long, info, from, whole(to))
						got, inParts, fault := pairs.RenderInParts(nil, source, target, long, info)
						if require.Equal(t, refused, fault); fault != nil {
							continue
						}
						assert.Equal(t, string(want), string(edit.Apply(nil, got, inParts.Texts)), "%s: %s to %s with %s", e.name, source, target, traits)
						assert.Equal(t, r.Losses, inParts.Losses)
						marked[target] += len(inParts.Texts)
					}
				}
			}
		}
	}
	for target, to := range targets {
		assert.Equal(t, to != nil && to.LongTexts, marked[target] > 0, target)
	}
}

// Services refuse blank texts, which their writers therefore leave out. A long description was none
// for a writer that got it without its middle, because its last byte is a quote.
func TestLongBlankTextsAreBlank(t *testing.T) {
	for _, space := range []string{" ", `\n`, `\u0020`, "\u3000"} {
		blank := strings.Repeat(space, 5000)
		for source, body := range map[translate.Format]string{
			translate.Chat:     chatting(`{"role":"system","content":"_"},{"role":"user","content":"_"},`+hi, `"tools":[{"type":"function","function":{"name":"f","description":"_"}}]`),
			translate.Messages: conversation(`{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"_"}}]},`+hi, `"system":"_"`, `"tools":[{"name":"f","description":"_","input_schema":{"type":"object"}}]`),
		} {
			long := []byte(strings.ReplaceAll(body, "_", blank))
			for _, target := range formats.OfProviders() {
				if !pairs.CanTranslate(source, target.Name) || target.Name == translate.Completions {
					continue
				}
				info := &core.RequestInfo{Model: "m1", Upstream: "up"}
				want, _, fault := core.Render(nil, long, info, formats.Of(source).Requests.Source, whole(target.Requests.Target))
				require.Nil(t, fault)
				got, r, fault := pairs.RenderInParts(nil, source, target.Name, long, info)
				require.Nil(t, fault)
				assert.True(t, string(want) == string(edit.Apply(nil, got, r.Texts)), "%s to %s with %q", source, target.Name, space) // too long to show
			}
		}
	}
}
