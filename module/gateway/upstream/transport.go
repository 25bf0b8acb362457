package upstream

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// completeTransport adds to the transport what follows from an address that is
// a URL: Caddy enables TLS, and HTTP/2 with it, only when the transport's own
// configuration says so. A transport that is not configured at all also gets
// room for the many calls that go to a single host, and smaller buffers than Go's,
// of 4 KiB each: an open stream holds one for reading and one for writing.
func completeTransport(u aigateway.Upstream) (json.RawMessage, error) {
	fields, err := fieldsOf(u.TransportRaw)
	if err != nil {
		return nil, fmt.Errorf("reading transport: %w", err)
	}
	if fields == nil {
		fields = map[string]json.RawMessage{
			"protocol":          json.RawMessage(`"http"`),
			"keep_alive":        json.RawMessage(`{"max_idle_conns_per_host":256}`),
			"read_buffer_size":  json.RawMessage("2048"),
			"write_buffer_size": json.RawMessage("2048"),
		}
	}
	base, err := url.Parse(u.BaseURL)
	if err == nil && base.Scheme == "https" && string(fields["protocol"]) == `"http"` && fields["tls"] == nil {
		fields["tls"] = json.RawMessage(`{}`)
	}
	return json.Marshal(fields)
}
