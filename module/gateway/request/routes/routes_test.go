package routes

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// The headers and the query of each request were searched for a format that its path has.
func TestTheFormatOfAnEndpointNeedsNoSearch(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions?key=k&limit=3", nil)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	site := new(backends.Set)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		found := Find(r, site)
		if found.Kind != Call || found.Format != found.KeyFormat || found.Format.Name != translate.Chat {
			t.Error("another route")
		}
	}))
}

// A list of models is in the format to which the request points. A parameter of
// a page points to a format, too, but not to the place of the key.
func TestPathsOfSeveralFormats(t *testing.T) {
	messages, gemini, unspecified := formats.Of(translate.Messages), formats.Of(translate.Gemini), formats.Unspecified()
	for name, c := range map[string]struct {
		path, header string
		want, key    *format.Descriptor
	}{
		"nothing":                  {"/v1/models", "", unspecified, nil},
		"the version":              {"/v1/models", "Anthropic-Version", messages, messages},
		"the header of a key":      {"/v1/models", "X-Api-Key", messages, messages},
		"the parameter of a key":   {"/v1/models?key=k", "", gemini, gemini},
		"paging":                   {"/v1/models?after_id=m", "", messages, nil},
		"the path":                 {"/v1beta/models", "Anthropic-Version", gemini, gemini},
		"no list":                  {"/v1/capabilities?key=k", "X-Api-Key", unspecified, nil},
		"an unknown path":          {"/v1/mesages", "", messages, nil},
		"an unknown path, marked":  {"/v1/mesages", "X-Goog-Api-Key", gemini, gemini},
		"an unknown path, a model": {"/v1beta/mesages", "Anthropic-Version", gemini, gemini},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, nil)
			if c.header != "" {
				r.Header.Set(c.header, "v")
			}
			found := Find(r, new(backends.Set))
			assert.Same(t, c.want, found.Format)
			assert.Same(t, c.key, found.KeyFormat)
		})
	}
}

// A request of a vendor's client for an endpoint that the gateway does not serve was advised to check its
// base URL: the endpoint was missing in the table.
func TestNoPathOfAVendorsClientIsTakenForAMistypedOne(t *testing.T) {
	paths, err := os.ReadFile("../../../../testdata/drift/paths.txt")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(paths)) {
		if line = strings.TrimSpace(line); line[0] == '#' {
			continue
		}
		n++
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			r := httptest.NewRequestWithContext(t.Context(), method, strings.ReplaceAll(line, "{}", "id7"), nil)
			found := Find(r, new(backends.Set))
			if found.Kind == Elsewhere {
				found = FindUnanswered(r, new(backends.Set))
			}
			assert.NotEqual(t, Elsewhere, found.Kind, line)
			if found.Fault != nil {
				assert.NotContains(t, found.Fault.Message, "no such endpoint", "%s %s", method, line)
			}
		}
	}
	assert.Greater(t, n, 400)
}
