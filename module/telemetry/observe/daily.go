package observe

import (
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// daily has the objects for which an event was emitted today.
type daily[Object comparable] struct {
	mu   sync.Mutex // guards the fields below
	day  int64      // days since 1970
	seen map[Object]bool
}

// isFirst reports whether an object is asked for the first time on the day of a time.
func (d *daily[Object]) isFirst(o Object, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if today := now.Unix() / (24 * 60 * 60); d.day != today {
		d.day, d.seen = today, make(map[Object]bool)
	}
	known := d.seen[o]
	d.seen[o] = true
	return !known
}

// pricelessModel has only names of the configuration, so that clients cannot make the number
// of these models grow.
type pricelessModel struct {
	provider, model string
	refused         bool
}

var (
	unpriced daily[pricelessModel]
	expiring daily[string] // keys, by id
	retiring daily[retiringModel]
)

// announceUnpriced emits an event for a model without a price, once a day. upstream is the
// provider's own name of the model. refusal is why its requests are refused, "" if they are not.
func announceUnpriced(provider, model, upstream, refusal string) {
	if !unpriced.isFirst(pricelessModel{provider, model, refusal != ""}, time.Now()) {
		return
	}
	data := map[string]any{"provider": provider, "model": model, "upstream_model": Clip(upstream)}
	if refusal != "" {
		data["refusal"] = Clip(refusal)
	}
	events.Emit(events.UnpricedModel, data)
}

// announceRefusal is announceUnpriced for a refused request, whose fault has the target.
func announceRefusal(model string, refused *fault.Fault) {
	if provider, upstream, ok := strings.Cut(refused.Log.Target, "/"); ok {
		announceUnpriced(provider, model, upstream, refused.Message)
	}
}

// expiresSoon is the time before its expiry in which a key that is used is announced.
const expiresSoon = 7 * 24 * time.Hour

// AnnounceExpiry emits an event for a key that is used and expires soon, once a day.
func AnnounceExpiry(key *aigateway.Key, now time.Time) {
	if key.Expires.IsZero() || key.Expires.Sub(now) > expiresSoon || !expiring.isFirst(key.ID, now) {
		return
	}
	events.Emit(events.KeyExpires, map[string]any{"key": key.ID, "owner": key.Owner, "expires": key.Expires.UTC().Format(time.RFC3339)})
}

// retiringModel has only names of the configuration, of the tables and of the lists of providers.
type retiringModel struct{ provider, model string }

// AnnounceModelEnd logs that the service of a provider ends a model soon, and emits an event, once a day.
// changes returns what is different at the successor, in sentences.
func AnnounceModelEnd(logger *zap.Logger, provider string, end models.End, changes func() []string, now time.Time) {
	if !retiring.isFirst(retiringModel{provider, end.Model}, now) {
		return
	}
	differs := strings.Join(changes(), " ")
	logger.Warn("the service ends this model", zap.String("provider", provider), zap.String("upstream_model", end.Model),
		zap.String("ends", end.Day.Format(time.DateOnly)), zap.String("successor", end.Successor), zap.String("changes", differs))
	events.Emit(events.ModelEnds, map[string]any{
		"provider": provider, "model": end.Model, "ends": end.Day.Format(time.RFC3339), "successor": end.Successor, "changes": differs,
	})
}
