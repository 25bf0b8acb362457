package request_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// Clients send back the whole message of an answer. The blocks that only this gateway can read
// went to every chat provider, and strict ones refuse members that they do not know.
func TestTheViewCutsThinkingThatTheGatewaySigned(t *testing.T) {
	const (
		sealed = `{"type":"thinking","thinking":"a","signature":"gwrs1:k.rs_1.1.x"}`
		vendor = `{"type":"thinking","thinking":"b","signature":"EqQB"}`
	)
	signed := `{"type":"thinking","thinking":"a","signature":"` + string(seal.AppendSelfSigned(nil, []byte("a"))) + `"}`
	message := func(members string) string {
		return `{"model":"m","messages":[{"role":"user","content":"x"},{` + members + `}]}`
	}
	for body, want := range map[string]string{
		message(`"role":"assistant","content":"c" , "thinking_blocks":[` + sealed + `] `):               message(`"role":"assistant","content":"c"  `),
		message(`"thinking_blocks":[` + signed + `,` + sealed + `] , "role":"assistant","content":"c"`): message(` "role":"assistant","content":"c"`),
		message(`"role":"assistant","thinking_blocks":[` + sealed + `],"content":"c"`):                  message(`"role":"assistant","content":"c"`),
		message(`"role":"assistant","content":"c","thinking_blocks":[` + vendor + `,` + sealed + `]`):   message(`"role":"assistant","content":"c","thinking_blocks":[` + vendor + `]`),
		message(`"role":"assistant","content":"c","thinking_blocks":[` + vendor + `]`):                  message(`"role":"assistant","content":"c","thinking_blocks":[` + vendor + `]`),
		message(`"role":"assistant","content":"c","thinking_blocks":[7,{"type":"thinking"}]`):           message(`"role":"assistant","content":"c","thinking_blocks":[7,{"type":"thinking"}]`),
		message(`"role":"assistant","content":"c","thinking_blocks":null`):                              message(`"role":"assistant","content":"c","thinking_blocks":null`),
	} {
		view, fault := request.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		assert.Equal(t, want, string(translatetest.Without([]byte(body), view.SelfSigned)), body)
	}
}
