package pairs_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	completionsrequest "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// filledIn is a completions request after the edits of a template.
func filledIn(t testing.TB, template, body string) (string, *fault.Fault) {
	t.Helper()
	traits := new(trait.Traits)
	require.NoError(t, traits.Set("fim_template", template))
	edits, fault := completionsrequest.FillIn([]byte(body), &core.RequestInfo{Model: "m1", Traits: traits})
	slices.SortFunc(edits, func(a, b edit.Edit) int { return b.Start - a.Start })
	for _, e := range edits {
		body = body[:e.Start] + string(e.With) + body[e.End:]
	}
	return body, fault
}

func TestPromptAndSuffixBecomeThePromptOfTheModel(t *testing.T) {
	for _, tt := range []struct{ name, template, body, want string }{
		{"qwen", "qwen", `{"prompt":"a\n","suffix":"b\u00e9","n":1}`, `{"prompt":"<|fim_prefix|>a\n<|fim_suffix|>b\u00e9<|fim_middle|>","n":1}`},
		{"deepseek", "deepseek", `{"prompt":"a","suffix":"b"}`, `{"prompt":"<｜fim▁begin｜>a<｜fim▁hole｜>b<｜fim▁end｜>"}`},
		{"starcoder2", "starcoder2", `{"prompt":"a","suffix":"b"}`, `{"prompt":"<fim_prefix>a<fim_suffix>b<fim_middle>"}`},
		{"codellama", "codellama", `{"prompt":"a","suffix":"b"}`, `{"prompt":"<PRE> a <SUF>b <MID>"}`},
		{"the suffix first", `[S]{suffix}[P]{prefix}`, `{"suffix":"b", "prompt":"a"}`, `{"prompt":"[S]b[P]a"}`},
		{"a template that needs escapes", "\"{prefix}\"\n{suffix}", `{"prompt":"a","suffix":"b"}`, `{"prompt":"\"a\"\nb"}`},
		{"names in the texts are texts", "qwen", `{"prompt":"{suffix}","suffix":"{prefix}"}`, `{"prompt":"<|fim_prefix|>{suffix}<|fim_suffix|>{prefix}<|fim_middle|>"}`},
		{"nothing before", "qwen", `{"prompt":"","suffix":"b"}`, `{"prompt":"<|fim_prefix|><|fim_suffix|>b<|fim_middle|>"}`},
		{"no suffix", "qwen", `{"prompt":"a"}`, `{"prompt":"a"}`},
		{"a null", "qwen", `{"prompt":[1],"suffix":null}`, `{"prompt":[1],"suffix":null}`},
		{"an empty suffix", "qwen", `{"prompt":[1], "suffix":"" }`, `{"prompt":[1] }`},
		{"no template", "", `{"prompt":"a","suffix":"b"}`, `{"prompt":"a","suffix":"b"}`},
		{"echo of nothing added", "qwen", `{"prompt":"a","echo":true}`, `{"prompt":"a","echo":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := filledIn(t, tt.template, tt.body)
			require.Nil(t, fault)
			assert.Equal(t, tt.want, got)
			assert.True(t, json.Valid([]byte(got)))
		})
	}
}

func TestWhatATemplateCannotHoldIsRefused(t *testing.T) {
	const reserved = ", which has a meaning of its own in the prompt of model 'm1'"
	for body, want := range map[string]string{
		`{"prompt":["a","b"],"suffix":"c"}`:         "prompt:" + toCompletions,
		`{"prompt":[1,2],"suffix":"c"}`:             "prompt:" + toCompletions,
		`{"prompt":"a","suffix":"c","echo":true}`:   "echo:" + toCompletions,
		`{"prompt":"a <MID>","suffix":"c"}`:         "prompt: must not hold '<MID>'" + reserved,
		`{"prompt":"a","suffix":"<\u0050RE\u003e"}`: "suffix: must not hold '<PRE>'" + reserved,
	} {
		_, f := filledIn(t, "codellama", body)
		require.NotNil(t, f, body)
		assert.Equal(t, want, f.Message)
		assert.Equal(t, fault.Invalid, f.Kind)
	}
}

func FuzzFillIn(f *testing.F) {
	for _, body := range []string{`{"suffix":"b","model":"m","prompt":"a"}`, `{"model":"m", "prompt":["a"] , "suffix":"\u00e9","stream":true}`, `{"prompt":[1],"suffix":"","model":"m"}`, `{"sufFix":"","model":"m","prompt":""}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, refused := formats.Of(translate.Completions).Requests.Inspect(body, translate.Generate); refused != nil {
			return
		}
		got, fault := filledIn(t, "qwen", string(body))
		if fault != nil {
			return
		}
		_, refused := formats.Of(translate.Completions).Requests.Inspect([]byte(got), translate.Generate)
		require.Nil(t, refused, got)
		var request map[string]json.RawMessage // a struct would take "sufFix" for the suffix, too
		require.NoError(t, json.Unmarshal([]byte(got[len(got)-len(trimMark(got)):]), &request))
		require.Contains(t, []string{"", "null"}, string(request["suffix"]))
	})
}

// trimMark cuts the mark of the byte order, which decoders do not know.
func trimMark(text string) string {
	if len(text) >= 3 && text[:3] == "\ufeff" {
		return text[3:]
	}
	return text
}
