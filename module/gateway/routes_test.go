package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// The headers and the query of each request were searched for a format that its path has.
func TestTheFormatOfAnEndpointNeedsNoSearch(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/v1/models/m?key=k&limit=3", nil)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	e := endpoint{format: formats.Of(translate.Chat)}
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		if formatOf(r, e) != e.format || keyFormat(r, e) != e.format {
			t.Error("another format")
		}
	}))
	assert.Equal(t, formats.Of(translate.Messages), keyFormat(r, endpoint{}))
}
