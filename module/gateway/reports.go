package gateway

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts/spend"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// warnUnreported logs that a handler wants reports of the spend, and no site has a ledger.
func warnUnreported(a *app) {
	hasLedger := func(set *backends.Set) bool { return set.Book != nil }
	wants := func(handler caddyevents.Handler) bool {
		reports, ok := handler.(interface{ ReportsSpend() bool })
		return ok && reports.ReportsSpend()
	}
	if !slices.ContainsFunc(a.serving, hasLedger) && slices.ContainsFunc(a.emitter.Handlers(events.SpendReport), wants) {
		a.logger.Warn("no spend is reported, because no site has a ledger")
	}
}

// reportSpend reports the spend of each ledger until the context ends, if a handler wants that.
func reportSpend(ctx context.Context, a *app) {
	warnUnreported(a)
	for _, same := range a.byDatabase() {
		for _, set := range same {
			if set.Book == nil {
				continue
			}
			reporter := spend.Reporter{Ledger: set.Book, Logger: a.logger}
			if named, ok := set.Store.(aigateway.StoreIdentity); ok {
				reporter.Name = aigateway.ShortDigest(sha256.Sum256([]byte(named.Identity())))
			}
			go func() {
				select {
				case <-a.emitter.Begun(): // before, the handlers are not bound, or those of an earlier configuration
					if a.emitter.Handles(events.SpendReport) {
						reporter.Run(ctx)
					}
				case <-ctx.Done():
				}
			}()
			break
		}
	}
}
