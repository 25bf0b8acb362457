package request

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func testSealer(t *testing.T, tenant string) *seal.Sealer {
	t.Helper()
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	return ring.For("p", tenant)
}

// signatureOf returns the signature of the call in an answer with these thoughts.
func signatureOf(t *testing.T, thoughts ...event.Event) []byte {
	t.Helper()
	events := append(thoughts, event.Event{Kind: event.ToolStart, ID: []byte("i"), Name: []byte("f")}, event.Event{Kind: event.ToolEnd},
		event.Event{Kind: event.Finish, Finish: event.FinishStop}, event.Event{Kind: event.End})
	m := &translate.AnswerContext{Seals: testSealer(t, "t"), Reasoning: translate.ReasoningOf{Hidden: true}}
	out, fault := translatetest.Emit(answer.NewEmitter(m, translatetest.IDs("r", "c")), events)
	require.Nil(t, fault)
	o, err := client.Decode([]byte(out))
	require.NoError(t, err)
	part := o["candidates"].([]any)[0].(client.Object)["content"].(client.Object)["parts"].([]any)[0].(client.Object)
	return []byte(part["thoughtSignature"].(string))
}

// TestY027SealedReasoningComesBack ensures that the provider gets its reasoning byte for byte,
// in front of the call to which it led. Python clients send signatures in the other alphabet of
// base64.
func TestY027SealedReasoningComesBack(t *testing.T) {
	signature := signatureOf(t,
		event.Event{Kind: event.Reasoning, Text: []byte("a\n\"☂>?")}, event.Event{Kind: event.Signature, Text: []byte("s+/=")}, event.Event{Kind: event.ReasoningEnd},
		event.Event{Kind: event.Redacted, Text: []byte("secret")}, event.Event{Kind: event.Reasoning, Text: []byte("b")})
	raw, err := base64.StdEncoding.DecodeString(string(signature))
	require.NoError(t, err)
	for _, sent := range []string{string(signature), base64.URLEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw)} {
		thoughts, ok := unsealed(testSealer(t, "t"), []byte(sent))
		require.True(t, ok)
		assert.Equal(t, []core.Thought{
			{Origin: core.Signed, Text: []byte(`a\n\"☂>?`), Signature: []byte("s+/=")},
			{Origin: core.Sealed, Sealed: []byte("secret")},
			{Origin: core.Unsigned, Text: []byte("b")},
		}, thoughts)
	}
	_, ok := unsealed(testSealer(t, "other"), signature)
	assert.False(t, ok, "the seal of another tenant")
	_, ok = unsealed(nil, signature)
	assert.False(t, ok)

	signature = signatureOf(t, event.Event{Kind: event.Reasoning, Text: []byte("a")}, event.Event{Kind: event.Signature, Text: []byte("rs_1.1.x"), Origin: translate.Responses})
	thoughts, ok := unsealed(testSealer(t, "t"), signature)
	require.True(t, ok)
	assert.Equal(t, []core.Thought{{Origin: core.Encrypted, Text: []byte("a"), Encrypted: []byte("rs_1.1.x")}}, thoughts)
}

func TestY029SignaturesThatAreNoSealsAreNotOpened(t *testing.T) {
	for _, signature := range []string{"", "skip_thought_signature_validator", "context_engineering_is_the_way_to_go", "CiQB0e2Kb1XvMg==", "gwth1:x.[]", "Z3d0aDE6", "====", "☂"} {
		_, ok := unsealed(testSealer(t, "t"), []byte(signature))
		assert.False(t, ok, signature)
	}
}
