package upstream

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// A transport block without buffers once got buffers of Go's size: 4 KiB more for each open
// stream than without the block.
func TestTransportsAreCompleted(t *testing.T) {
	for _, tc := range []struct{ base, configured, want string }{
		{"http://a", `null`, `{"protocol":"http","keep_alive":{"max_idle_conns_per_host":256},"read_buffer_size":2048,"write_buffer_size":2048}`},
		{"http://a", `{"protocol":"http","keep_alive":{}}`, `{"protocol":"http","keep_alive":{},"read_buffer_size":2048,"write_buffer_size":2048}`},
		{"https://a", `{"protocol":"http","read_buffer_size":9}`, `{"protocol":"http","read_buffer_size":9,"write_buffer_size":2048,"tls":{}}`},
		{"https://a", `{"protocol":"http","tls":{"server_name":"b"},"write_buffer_size":9}`, `{"protocol":"http","tls":{"server_name":"b"},"read_buffer_size":2048,"write_buffer_size":9}`},
		{"https://a", `{"protocol":"other"}`, `{"protocol":"other"}`},
	} {
		got, err := completeTransport(aigateway.Upstream{BaseURL: tc.base, TransportRaw: json.RawMessage(tc.configured)})
		require.NoError(t, err)
		assert.JSONEq(t, tc.want, string(got))
	}
}
