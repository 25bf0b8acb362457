// Package intake reads the requests of clients.
//
// It promises that a request is checked before anybody is asked for an answer, that
// its body is read to the end within a bound, and that the bytes of the body are
// kept as they are. It refuses what a provider might read in another way.
package intake

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Read reads what a client asks for, from headers, query and body, into the exchange.
// The body has at most maxBody bytes, before and after decoding.
func Read(ex *exchange.Exchange, r *http.Request, maxBody int64) *fault.Fault {
	if version := &ex.Format.Version; version.Check != nil {
		if f := version.Check(r.Header[version.Header]); f != nil {
			return f
		}
	}
	ex.Query = queryFor(ex.Format, r)
	if f := checkOnLoss(r); f != nil {
		return f
	}
	ex.Strict = r.Header.Get(onLossHeader) == "reject"
	if f := readBody(ex, r, maxBody); f != nil {
		return f
	}
	ex.Received = time.Now()
	return inspect(ex)
}

// queryFor returns what providers of the client's format get of the query.
func queryFor(client *format.Descriptor, r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	var kept []string
	query := r.URL.Query()
	for _, parameter := range client.Client.Query {
		if name, value, _ := strings.Cut(parameter, "="); query.Get(name) == value {
			kept = append(kept, parameter)
		}
	}
	return strings.Join(kept, "&")
}

// onLossHeader is the header of requests by which a client refuses losses: with the
// value "reject". With "warn", the setting of the model decides.
const onLossHeader = "X-Gateway-On-Loss"

// checkOnLoss refuses other values of onLossHeader.
func checkOnLoss(r *http.Request) *fault.Fault {
	for i, value := range r.Header[onLossHeader] {
		if i > 0 || value != "warn" && value != "reject" {
			return fault.OnLossInvalid()
		}
	}
	return nil
}
