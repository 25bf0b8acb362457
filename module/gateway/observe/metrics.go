package observe

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// lossesTotal counts what translations could not carry over. Its labels come
// from the configuration and from the tables of this repository: a field whose name
// only the client knows counts as "?".
var lossesTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
	Namespace: "caddy",
	Subsystem: "ai_gateway",
	Name:      "losses_total",
	Help:      "Fields of requests and parts of answers that a translation left behind.",
}, []string{"provider", "from", "to", "class", "field"})

// Register adds the metrics to the registry of a configuration. Every
// site does so, and every configuration has a registry of its own, while the
// counters go on over reloads.
func Register(registry *prometheus.Registry) error {
	err := registry.Register(lossesTotal)
	if already := (prometheus.AlreadyRegisteredError{}); err == nil || errors.As(err, &already) {
		return nil
	}
	return fmt.Errorf("registering metrics: %w", err)
}

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
		lossesTotal.WithLabelValues(a.Provider, string(from), string(to), loss.Class.String(), pairs.LossName(from, to, loss)).Inc()
	}
}
