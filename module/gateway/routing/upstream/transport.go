package upstream

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// completeTransport returns the configuration of the transport, with TLS if the base URL
// needs it: Caddy enables TLS, and HTTP/2 with it, only by configuration. A transport
// without configuration gets more idle connections than Go's default, because many calls
// go to one host. Without configured buffers, they are smaller than Go's 4 KiB, because an
// open stream holds one for reading and one for writing.
func completeTransport(u aigateway.Upstream) (json.RawMessage, error) {
	fields, err := fieldsOf(u.TransportRaw)
	if err != nil {
		return nil, fmt.Errorf("reading transport: %w", err)
	}
	if fields == nil {
		fields = map[string]json.RawMessage{
			"protocol":   json.RawMessage(`"http"`),
			"keep_alive": json.RawMessage(`{"max_idle_conns_per_host":256}`),
		}
	}
	if string(fields["protocol"]) != `"http"` {
		return json.Marshal(fields)
	}
	for _, name := range []string{"read_buffer_size", "write_buffer_size"} {
		if fields[name] == nil {
			fields[name] = json.RawMessage("2048")
		}
	}
	if base, err := url.Parse(u.BaseURL); err == nil && base.Scheme == "https" && fields["tls"] == nil {
		fields["tls"] = json.RawMessage(`{}`)
	}
	return json.Marshal(fields)
}
