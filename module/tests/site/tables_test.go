package site

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Tests over all formats index these tables by path. A format that was missing in a table
// once caused a panic in the middle of another test.
func TestTablesHaveEveryFormat(t *testing.T) {
	for _, d := range formats.All() {
		path := d.Client.Endpoints[0].Path
		assert.Contains(t, CallPaths, path)
		assert.Contains(t, Streams, path)
		assert.Contains(t, ErrorEvents, path)
		assert.Contains(t, KeepAlives, path)
	}
}
