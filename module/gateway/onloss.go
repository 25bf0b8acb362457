package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// onLossHeader asks for more strictness than the model has: "reject". The other
// value, "warn", leaves the model's setting as it is.
const onLossHeader = "X-Gateway-On-Loss"

func checkOnLoss(r *http.Request) *translate.Fault {
	for i, value := range r.Header[onLossHeader] {
		if i > 0 || value != "warn" && value != "reject" {
			return translate.OnLossInvalid()
		}
	}
	return nil
}
