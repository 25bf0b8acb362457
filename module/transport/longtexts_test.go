package transport

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// A translated request has slices of the client's body in place of its long texts. They are sent
// after the exchange has released the body, and a protocol may leave them out, and change what is
// around them.
func TestLongTextsOfATranslatedRequestAreSentFromTheBody(t *testing.T) {
	system, text := strings.Repeat("be brief ", 1000), strings.Repeat("größer\\n", 1000)
	question := `{"role":"user","content":[{"type":"text","text":"` + text + `"}]}`
	body := `{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"` + system + `"},{"role":"user","content":"` + text + `"}]}`
	for name, test := range map[string]struct {
		changes aigateway.BodyChanges
		want    string
		inner   func(string) string
	}{
		"unchanged": {want: `{"model":"x","max_tokens":9,"messages":[` + question + `],"system":[{"type":"text","text":"` + system + `"}]}`},
		"changed": {
			changes: aigateway.BodyChanges{With: `"anthropic_version":"1"`, Without: []string{"model", "system"}},
			want:    `{"anthropic_version":"1","max_tokens":9,"messages":[` + question + `]}`,
		},
		"inside": {
			changes: aigateway.BodyChanges{Without: []string{"model", "messages"}, Around: [2]string{`{"body":"`, `"}`}},
			want:    `{"max_tokens":9,"system":[{"type":"text","text":"` + system + `"}]}`,
			inner: func(sent string) string {
				var outer struct{ Body string }
				require.NoError(t, json.Unmarshal([]byte(sent), &outer))
				decoded, err := base64.StdEncoding.DecodeString(outer.Body)
				require.NoError(t, err)
				return string(decoded)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), Lease: exchange.NewLease()}}
			ex.Request.Body = append(ex.Request.Lease.Buffer(), body...)
			ex.Request.Lease.Keep(ex.Request.Body)
			view, fault := ex.Request.Format.Requests.Inspect(ex.Request.Body, translate.Generate)
			require.Nil(t, fault)
			ex.Request.View = view
			a := &exchange.Attempt{Exchange: ex, Format: formats.Of(translate.Messages), Model: "x", Traits: new(trait.Traits)}
			prepared, fault := prepare(a, 0, new(Transport), &aigateway.Call{Body: test.changes})
			require.Nil(t, fault)
			ex.Request.DropBody()
			other := exchange.NewLease() // gets the memory of the body if nobody holds it
			overwritten := append(other.Buffer(), strings.Repeat("X", len(body))...)
			sent, err := io.ReadAll(prepared.payload.Open())
			require.NoError(t, err)
			if test.inner != nil {
				sent = []byte(test.inner(string(sent)))
			} else {
				assert.EqualValues(t, len(sent), prepared.payload.Length())
			}
			assert.Equal(t, test.want, string(sent))
			assert.Len(t, overwritten, len(body))
		})
	}
}
