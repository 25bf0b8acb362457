package pairs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// TestRequestsOfCodingAgentsBecomeChatRequests takes requests as real agents
// send them, their texts replaced, to a provider that takes nothing but what
// the public chat API states.
func TestRequestsOfCodingAgentsBecomeChatRequests(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/goldens/requests/*.messages.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(path, ".messages.json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			info := &core.RequestInfo{Model: "mock-model", Upstream: "provider-model"}
			out, r, fault := pairs.Render(nil, translate.Messages, translate.Chat, body, info)
			require.Nil(t, fault)
			requireRight(t, translate.Chat, out)
			requireGolden(t, name+".chat.json", indented(t, out))
			requireGolden(t, name+".losses", []byte(strings.ReplaceAll(lossesOf(r.Losses), ", ", "\n")+"\n"))
		})
	}
}

// TestRequestsOfCodingAgentsBecomeResponsesRequests is the same for a provider of the
// responses format, as OpenAI is.
func TestRequestsOfCodingAgentsBecomeResponsesRequests(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/goldens/requests/*.messages.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	traits := traitsOf(t, "responses_reasoning encrypted; user_field safety_identifier; cache_breakpoints on")
	for _, path := range paths {
		name := strings.TrimSuffix(path, ".messages.json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			info := &core.RequestInfo{Model: "mock-model", Upstream: "provider-model", Traits: traits, Seals: sealer}
			out, r, fault := pairs.Render(nil, translate.Messages, translate.Responses, body, info)
			require.Nil(t, fault)
			requireRight(t, translate.Responses, out)
			requireGolden(t, name+".responses.json", indented(t, out))
			requireGolden(t, name+".responses.losses", []byte(strings.ReplaceAll(lossesOf(r.Losses), ", ", "\n")+"\n"))
		})
	}
}

func indented(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, body, "", " "))
	b.WriteByte('\n')
	return b.Bytes()
}

func requireGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "-update writes golden files")
	assert.Equal(t, string(want), string(got))
}
