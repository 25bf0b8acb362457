package catalog

import (
	"cmp"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// Hedge is when a second target is called as well.
type Hedge struct {
	HedgeConfig
	Share health.Budget // of the requests that may be hedged
}

// newHedge returns the hedge of a model, nil if it has none.
func newHedge(config HedgeConfig) (*Hedge, error) {
	switch {
	case config.Hedge < 0:
		return nil, errors.New("hedge must be positive")
	case config.HedgeShare < 0 || config.HedgeShare > 100:
		return nil, errors.New("the share of hedges must be above 0 and at most 100 percent")
	case config.Hedge == 0:
		return nil, nil
	}
	return &Hedge{config, health.Budget{Percent: cmp.Or(config.HedgeShare, 100)}}, nil
}

// Hedges reports whether a second target may be called as well for a request: a stream without tools, which
// neither refers to what a provider stores nor makes one store something. Tools may act at the provider, and
// would act twice.
func (m *Model) Hedges(ex *exchange.Exchange) bool {
	request, reach := &ex.Request, &ex.Request.View.Beyond
	if m.Hedge == nil || request.Operation != translate.Generate || !request.Streaming() || request.InMessage || ex.Capture != nil {
		return false
	}
	isStored := reach.State != "" || reach.Stored || reach.Background
	return !isStored && !reach.Idle && reach.OtherModels == "" && !texts.NamesTools(request.Body)
}

// Unhedged returns a copy of m that calls one target at a time.
func (m *Model) Unhedged() *Model {
	unhedged := *m
	unhedged.Hedge = nil
	return &unhedged
}

// MayRace reports whether t may be called beside another target: it has no limit of its own, and one address.
func (t *Target) MayRace() bool { return len(t.Limits) == 0 && !t.Provider.pooled }
