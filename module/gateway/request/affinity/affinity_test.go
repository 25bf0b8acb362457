package affinity_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

func TestTheFirstSourceWithATextNamesTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		header http.Header
		body   string
		want   string // "" for none
	}{
		"nothing":                   {nil, `{"model":"m"}`, ""},
		"header of Claude Code":     {http.Header{"X-Claude-Code-Session-Id": {"s"}}, `{"user":"u"}`, "s"},
		"cache key before the user": {nil, `{"user":"u","prompt_cache_key":"k"}`, "k"},
		"user of messages":          {nil, `{"metadata":{"other":"x","user_id":"id"}}`, "id"},
		"escaped":                   {nil, `{"user":"\u0075"}`, "u"},
		"empty":                     {http.Header{"X-Session-Affinity": {""}}, `{"prompt_cache_key":"","user":"u"}`, "u"},
		"no text":                   {nil, `{"prompt_cache_key":7,"metadata":[],"user":null}`, ""},
		"no object":                 {nil, `[]`, ""},
	} {
		want := uint64(0)
		if test.want != "" {
			want = rendezvous.Seed("owner", test.want)
		}
		assert.Equal(t, want, affinity.Default.Session("owner", test.header.Get, []byte(test.body)), name)
	}
}

// Two customers may call their users by the same name.
func TestOwnersHaveSessionsOfTheirOwn(t *testing.T) {
	none := http.Header{}.Get
	a := affinity.Default.Session("a", none, []byte(`{"user":"u"}`))
	assert.NotEqual(t, a, affinity.Default.Session("b", none, []byte(`{"user":"u"}`)))
	assert.NotZero(t, a)
	assert.Zero(t, affinity.Sources(nil).Session("a", none, []byte(`{"user":"u"}`)), "affinity off")
}

// A header without the prefix "header." was read as the name of a field that no request
// has. Requests were then spread at random, without an error.
func TestSourcesAreChecked(t *testing.T) {
	for _, source := range append(affinity.Default, "conversation", "header.X-Thread") {
		assert.NoError(t, source.Check())
	}
	for _, source := range []affinity.Source{"", ".", "a.", ".a", "a.b.c", "header.", "header.a b", "header.ä", "X-Session", "x-session", "Session"} {
		assert.ErrorContains(t, source.Check(), "is neither header.NAME nor the name of a field", source)
	}
}

// The turns of one recorded session have the same seed, and so does the request that
// counts its tokens.
func TestTheRecordedAgentNamesItsSession(t *testing.T) {
	files, err := filepath.Glob("../../../../testdata/captures/*.json")
	require.NoError(t, err)
	named := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var capture struct {
			Headers map[string]string
			Body    json.RawMessage
		}
		if json.Unmarshal(raw, &capture) != nil {
			continue
		}
		header := http.Header{}
		for name, value := range capture.Headers {
			header.Set(name, value)
		}
		if header.Get("X-Claude-Code-Session-Id") == "" {
			continue
		}
		named++
		assert.Equal(t, rendezvous.Seed("o", "00000000-0000-0000-0000-000000000000"), affinity.Default.Session("o", header.Get, capture.Body), file)
	}
	assert.Positive(t, named)
}
