package limits

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Left returns the smallest remainder, by the ledger, of the budgets that refuse requests
// of a key, in nanos of the currency. It returns nil if there is no such budget in the
// currency. Budgets per gateway do not count: their remainder would show the holder of a
// key what all others spend.
func (c *Chain) Left(ctx context.Context, key *aigateway.Key, currency string) (least *int64, err error) {
	if c.currency != currency {
		return nil, nil
	}
	for _, limit := range c.limits {
		if !limit.Budget.IsSet() || limit.Budget.Soft || limit.Per == aigateway.PerGateway {
			continue
		}
		left, err := c.leftOf(ctx, limit, key)
		if err != nil {
			return nil, err
		}
		if least == nil || left < *least {
			least = &left
		}
	}
	return least, nil
}

func (c *Chain) leftOf(ctx context.Context, limit *aigateway.Limit, key *aigateway.Key) (int64, error) {
	spent, err := c.spending.Spent(ctx, limit, key, limit.Budget.Since(time.Now().In(c.spending.Zone())))
	left := limit.Budget.Nanos()
	for _, s := range spent {
		left -= s.Nanos
	}
	return max(left, 0), err
}
