package counters

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// View implements aigateway.LimitViewer.
func (l *limiter) View(_ context.Context, d aigateway.Demand) ([]aigateway.LimitUse, error) {
	mu.Lock()
	defer mu.Unlock()
	uses := make([]aigateway.LimitUse, len(l.limits))
	for i := range l.limits {
		if t := l.limits[i].tallies[l.limits[i].Subject(d.Key)]; t != nil {
			uses[i] = t.view(l.limits[i].Limit, time.Now())
		}
	}
	return uses, nil
}

// view returns the use of the subject in a limit.
func (t *tally) view(l *aigateway.Limit, now time.Time) aigateway.LimitUse {
	t.advance(now)
	use := aigateway.LimitUse{Running: t.running}
	if t.requests != nil {
		use.Requests = t.requests.use(0, now)
	}
	if t.tokens != nil {
		use.Tokens = t.tokens.use(t.heldTokens.used, now)
	}
	if t.budget != nil && t.budget.knows(l) {
		money := t.budget.use(t.heldMoney.used, now)
		use.Money = &money
	}
	return use
}

// use returns the use in the window, of which running requests have reserved a part.
func (w *window) use(reserved int64, now time.Time) aigateway.RuleUse {
	use := aigateway.RuleUse{Used: w.used - reserved, Reserved: reserved, Reset: w.reset(now)}
	if use.Reset == forever {
		use.Reset = 0
	}
	return use
}
