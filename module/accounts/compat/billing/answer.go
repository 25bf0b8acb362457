package billing

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

func init() {
	caddy.RegisterModule(Billing{})
}

// Billing answers requests for the usage of the key that they have.
type Billing struct{}

// CaddyModule returns the Caddy module information.
func (Billing) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.billing",
		New: func() caddy.Module { return new(Billing) },
	}
}

// Serves reports whether a path is one of the billing paths, whose method is GET.
func (Billing) Serves(path string) bool { return shapes[path] != nil }

// shapes are the shapes of the answers, by path.
var shapes = map[string]func(*Account) []byte{
	"/api/usage/token":                   (*Account).TokenUsage,
	"/dashboard/billing/subscription":    (*Account).Subscription,
	"/v1/dashboard/billing/subscription": (*Account).Subscription,
	"/dashboard/billing/usage":           (*Account).Usage,
	"/v1/dashboard/billing/usage":        (*Account).Usage,
}

// Answer returns the answer to a request for the usage of a key. left returns the remainder
// of the budgets of the key in a currency; it is nil if nothing limits the key.
func (Billing) Answer(r *http.Request, key *aigateway.Key, ledger accounting.LedgerReader, left func(context.Context, *aigateway.Key, string) (*int64, error)) ([]byte, *fault.Fault) {
	account, only := Account{Key: key}, map[accounting.Dimension]string{accounting.ByKey: key.ID}
	start, end := r.URL.Query().Get("start_date"), r.URL.Query().Get("end_date")
	if strings.HasSuffix(r.URL.Path, "/billing/usage") && start+end != "" {
		zone, err := ledger.Location(r.Context())
		if err != nil {
			return nil, usageFault(err)
		}
		first, last, wrong := Days(start, end, zone)
		if wrong != nil {
			return nil, fault.InvalidField(wrong.Param, wrong.What)
		}
		account.Days, err = ledger.Usage(r.Context(), accounting.UsageQuery{
			Only: only, Currency: Currency, From: first, To: last, By: []accounting.Dimension{accounting.ByDay, accounting.ByModel},
		})
		if err != nil {
			return nil, usageFault(err)
		}
	}
	sums, err := ledger.Usage(r.Context(), accounting.UsageQuery{
		Only: only, Currency: Currency, From: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Now().Add(time.Hour),
	})
	if err != nil {
		return nil, fault.LedgerUnreadable(err)
	}
	account.Used = Spent(sums)
	if left != nil {
		if account.Left, err = left(r.Context(), key, Currency); err != nil {
			return nil, fault.LedgerUnreadable(err)
		}
	}
	return shapes[r.URL.Path](&account), nil
}

// usageFault returns the fault of costs by day that were not read.
func usageFault(err error) *fault.Fault {
	if errors.Is(err, accounting.ErrManySums) {
		return fault.UsageTooLong()
	}
	return fault.LedgerUnreadable(err)
}
