// Package request reads the requests of clients.
//
// It reads the body to its end, within a bound, and keeps its bytes unchanged. It refuses
// a request that is invalid, and one that a provider might read in another way.
package request

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Read reads headers, query and body of a request into the exchange, and checks them. The
// body may have at most maxBody bytes, before and after decoding.
func Read(ex *exchange.Exchange, r *http.Request, maxBody int64) *fault.Fault {
	if version := &ex.Request.Format.Version; version.Check != nil {
		if f := version.Check(r.Header[version.Header]); f != nil {
			return f
		}
	}
	ex.Request.Query = queryFor(ex.Request.Format, r)
	if f := checkOnLoss(r); f != nil {
		return f
	}
	ex.Request.Strict = r.Header.Get(onLossHeader) == "reject"
	if f := readBody(ex, r, maxBody); f != nil {
		return f
	}
	ex.Request.Received = time.Since(ex.Start)
	return inspect(ex, r)
}

// ReadObject reads the body of a request about a stored object, which may be empty, and checks it.
func ReadObject(ex *exchange.Exchange, r *http.Request, maxBody int64, check func(body []byte) *fault.Fault) *fault.Fault {
	if f := readBody(ex, r, maxBody); f != nil || len(ex.Request.Body) == 0 {
		return f
	}
	return check(ex.Request.Body)
}

// Replace puts another body in the place of that of an exchange with a request, and checks it as Read does.
func Replace(ex *exchange.Exchange, r *http.Request, body []byte) *fault.Fault {
	ex.Request.Body = body
	return inspect(ex, r)
}

// queryFor returns the part of the query that is sent to providers of the client's format.
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

// onLossHeader is a header of requests. With the value "reject", the client refuses
// losses. With "warn", the setting of the model decides.
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
