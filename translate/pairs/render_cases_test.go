package pairs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// renderCase is a row of the tables of requests.
type renderCase struct {
	name   string
	traits string // "name value; name value"
	body   string // the client's request
	want   string // the provider's, byte for byte
	losses string // "path hint, path shaping"
	fault  string // the message; want and losses are empty then
}

// conversation gives a case the body of a messages request of that content.
func conversation(messages string, more ...string) string {
	return `{"model":"m1","max_tokens":10,"messages":[` + messages + `]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// asked is the chat request of those messages.
func asked(messages string, more ...string) string {
	return `{"model":"up","messages":[` + messages + `],"max_tokens":10` + strings.Join(append([]string{""}, more...), ",") + `}`
}

func traitsOf(t testing.TB, text string) *trait.Traits {
	t.Helper()
	traits := new(trait.Traits)
	for setting := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(setting), " "); ok {
			require.NoError(t, traits.Set(name, value))
		}
	}
	return traits
}

func lossesOf(losses translate.Losses) string {
	var words []string
	for _, loss := range losses {
		words = append(words, loss.Path+" "+loss.Class.String())
	}
	return strings.Join(words, ", ")
}

// runRenderCases puts every case through the client's strict pass, the
// conversion and the strict pass of the provider's format.
func runRenderCases(t *testing.T, source, target translate.Format, cases []renderCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, r := renderCaseOf(t, source, target, c)
			if c.fault != "" {
				return
			}
			assert.Equal(t, c.want, string(out))
			assert.Equal(t, c.losses, lossesOf(r.Losses))
			assert.True(t, json.Valid(out))
			requireRight(t, target, out)
		})
	}
}

// renderCaseOf renders one case and checks the fault that it should have.
func renderCaseOf(t *testing.T, source, target translate.Format, c renderCase) ([]byte, core.Rendered) {
	t.Helper()
	_, f := formats.Of(source).Requests.Inspect([]byte(c.body), translate.Generate)
	require.Nil(t, f, "the client's request is right")
	info := &core.RequestInfo{Model: "m1", Upstream: "up", Tenant: "team", Traits: traitsOf(t, c.traits), Seals: sealer}
	out, r, f := pairs.Render([]byte("before"), source, target, []byte(c.body), info)
	if c.fault != "" {
		require.NotNil(t, f, "%s", out)
		assert.Equal(t, c.fault, f.Message)
		path, _, _ := strings.Cut(c.fault, ": ")
		assert.Equal(t, path, f.Param)
		assert.Equal(t, fault.Invalid, f.Kind)
		return nil, r
	}
	require.Nil(t, f)
	require.True(t, strings.HasPrefix(string(out), "before"), "what stood in the buffer stays")
	return out[len("before"):], r
}

const (
	hi    = `{"role":"user","content":"hi"}`
	notM1 = " cannot be translated for model 'm1' (upstream format "
)
