package module_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Tests over all formats index these tables by path. A format that was missing in a table
// once caused a panic in the middle of another test.
func TestTablesOfSitesHaveEveryFormat(t *testing.T) {
	for _, d := range formats.All() {
		path := d.Client.Endpoints[0].Path
		assert.Contains(t, site.ClientPaths, path)
		assert.Contains(t, site.Streams, path)
		assert.Contains(t, site.ErrorEvents, path)
		assert.Contains(t, site.KeepAlives, path)
		assert.Contains(t, site.Clients, path)
	}
}
