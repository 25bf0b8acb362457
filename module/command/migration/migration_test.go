package migration

import (
	"bytes"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each value is one token of the Caddyfile that is written.
func TestValuesAreQuotedWhereTheyNeedIt(t *testing.T) {
	values := []string{"plain", "a b", `say "hi"`, `back\slash`, "#x", "", "a/b:c@d", "with`tick", "<<EOF", "a<<b", `\`, "名"}
	g := Gateway{Site: "example.com", SiteWords: []Line{Words(append([]string{"word"}, values...)...)}}
	tokens, err := caddyfile.Tokenize([]byte(g.Caddyfile()), "Caddyfile")
	require.NoError(t, err)
	var read []string
	for _, token := range tokens {
		read = append(read, token.Text)
	}
	for i, text := range read {
		if text == "word" {
			assert.Equal(t, values, read[i+1:i+1+len(values)])
			return
		}
	}
	t.Error("the word is not written")
}

func TestAGatewayIsWrittenInOrder(t *testing.T) {
	g := Gateway{
		Site: "example.com", Global: []Line{{Words: []string{"counters", "redis", "a:1"}, Block: []Line{{Words: []string{"password"}, References: []Reference{Env("P")}}}}},
		Providers: []*Provider{{Name: "openai", Preset: "openai", APIKeys: []Reference{Env("K")}}, {Name: "own", Preset: "vllm", Lines: []Line{Words("models", "off")}}},
		Models:    []*Model{{Comment: "two\nlines", Name: "m", Targets: []Target{{Provider: "own", Model: "x", Weight: 2, Lines: []Line{Words("price", "input", "1")}}, {Provider: "openai"}}}},
		Limits:    []Limit{{Name: "l", Lines: []Line{Words("per", "key")}}},
		Left:      []Left{{Name: "n", Reason: "why"}},
	}
	text := g.Caddyfile()
	assert.Equal(t, `{
	ai_gateway {
		counters redis a:1 {
			password {env.P}
		}
		provider openai {env.K}
		provider own vllm {
			models off
		}
		# two
		# lines
		model m {
			to own/x weight 2 {
				price input 1
			}
			to openai
		}
		limit l {
			per key
		}
		# left out: n: why
	}
}

example.com {
	ai_gateway
}
`, text)
	assert.Equal(t, string(caddyfile.Format([]byte(text))), text)
}

func TestNamesAreGivenOnce(t *testing.T) {
	var names Names
	for _, want := range []struct{ text, name string }{
		{"Alice Laptop", "Alice-Laptop"}, {"Alice/Laptop", "Alice-Laptop-2"}, {"名", "other"}, {"--", "other-2"},
		{"a.b_c@d+e-f", "a.b_c@d+e-f"},
	} {
		assert.Equal(t, want.name, names.Give(want.text, "other"))
	}
	// Users of new-api may have numbers as names, which are reserved only for keys.
	assert.Equal(t, "7", names.Give("7", "other"))
	for text, name := range map[string]string{"key_7": "imported-key_7", "名-8": "imported-8", "9-a": "9-a"} {
		assert.Equal(t, name, names.GiveKey(text, "other"))
	}
}

func TestAReportHasWhatMattersFirst(t *testing.T) {
	r := Report{Kept: []string{"1 model"}}
	assert.True(t, r.Complete())
	r.Add(Changed, "a", "differs")
	assert.True(t, r.Complete())
	r.Add(Lost, "b", "is left out")
	r.Add(Unsafe, "c", "is a %s", "protection")
	assert.False(t, r.Complete())
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	assert.Equal(t, "PROTECTION LOST  c: is a protection\nleft out  b: is left out\nchanged  a: differs\n\n1 model; 1 changed, 2 left out, 1 of them protections.\n", b.String())
}
