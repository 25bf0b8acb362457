package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
)

// lookForEndsEvery is the time between two looks for models that services end.
const lookForEndsEvery = time.Hour

// reportEnds reports the models of targets that services end soon, each once a day, until the context
// ends: also those of targets that are asked only after failures, whose end nobody would notice before.
func reportEnds(ctx context.Context, logger *zap.Logger, sites []*handler) {
	ticker := time.NewTicker(lookForEndsEvery)
	defer ticker.Stop()
	for {
		now := time.Now()
		for _, site := range sites {
			for t, name := range site.resolved.catalog.Ending(now) {
				observe.AnnounceModelEnd(logger, t.Provider.Name, t.End(name), func() []string { return t.Changes(name, now) }, now)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
