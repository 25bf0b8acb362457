package formats_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// The log leaves out a word that is no member, since it may be a text of the client.
func TestWordsOfClientsAreNoMembers(t *testing.T) {
	for _, word := range []string{"", "secret", "a b", "0", "*", "Messages", "api key"} {
		assert.False(t, formats.IsMember(word), word)
	}
	for _, word := range []string{"messages", "max_tokens", "tool_use", "instructions", "input_image", "generationConfig", "generation_config", "inferenceConfig", "toolUseId", "prompt", "echo"} {
		assert.True(t, formats.IsMember(word), word)
	}
}

// A format without a reader lists the members of its requests itself, so the list is held
// against the requests that it writes.
func TestMembersOfAFormatWithoutAReaderAreListed(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/goldens/exchanges/*/*-converse.txt")
	require.NoError(t, err)
	requests := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		_, request, isRequest := bytes.Cut(text, []byte("request:\n"))
		if !isRequest { // but a refusal
			continue
		}
		requests++
		var body any
		require.NoError(t, json.NewDecoder(bytes.NewReader(request)).Decode(&body), path)
		assertMembers(t, path, body)
	}
	assert.Greater(t, requests, 10)
}

// assertMembers checks the names of the members in a body, but not those that are the client's:
// of schemas, arguments and fields of models.
func assertMembers(t *testing.T, path string, value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			assertMembers(t, path, element)
		}
	case map[string]any:
		for name, member := range v {
			assert.True(t, formats.IsMember(name), "%s: %s", path, name)
			switch name {
			case "json", "input", "schema", "additionalModelRequestFields":
			default:
				assertMembers(t, path, member)
			}
		}
	}
}
