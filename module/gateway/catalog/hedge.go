package catalog

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// Hedges reports whether a second target may be called as well for a request: a stream without tools, which
// neither refers to what a provider stores nor makes one store something. Tools may act at the provider, and
// would act twice.
func (m *Model) Hedges(ex *exchange.Exchange) bool {
	if m.Hedge == 0 || ex.Operation != translate.Generate || !ex.Streaming() || ex.InMessage || ex.Capture != nil {
		return false
	}
	beyond := &ex.View.Beyond
	isStored := beyond.State != "" || beyond.Stored || beyond.Background
	return !isStored && !beyond.Idle && beyond.OtherModels == "" && !texts.NamesTools(ex.Body)
}

// MayRace reports whether t may be called beside another target: it has no limit of its own, and one address.
func (t *Target) MayRace() bool { return len(t.Limits) == 0 && !t.Provider.pooled }
