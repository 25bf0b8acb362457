package observe

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// CountLosses counts the losses of an answered exchange, of its request and of its
// answer.
func CountLosses(ex *exchange.Exchange) {
	a := ex.Attempt
	if a == nil || ex.FirstByte.IsZero() {
		return
	}
	count(a, ex.Format.Name, a.Format.Name, ex.Result.Losses)
	count(a, a.Format.Name, ex.Format.Name, ex.Result.Dropped)
}

func count(a *exchange.Attempt, from, to translate.Format, losses translate.Losses) {
	for _, loss := range losses {
		metrics.Loss(a.Provider, string(from), string(to), loss.Class.String(), pairs.LossName(from, to, loss))
	}
}
