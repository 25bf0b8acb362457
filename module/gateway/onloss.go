package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

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
