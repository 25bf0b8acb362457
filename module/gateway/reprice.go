package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// repricePath is the path of the admin API that recomputes costs.
const repricePath = adminPath + "usage/reprice"

// repriceRequest is the body of a request to repricePath.
type repriceRequest struct {
	From     time.Time `json:"from"`     // default: 30 days ago
	To       time.Time `json:"to"`       // default: now
	Model    string    `json:"model"`    // pattern of the provider's own name; default: all
	Provider string    `json:"provider"` // default: all
	DryRun   bool      `json:"dry_run"`
}

// pricer returns a pricer that knows only the costs of the calls that the request selects,
// so that other calls keep theirs.
func (r *repriceRequest) pricer(costs accounting.Pricer) (accounting.Pricer, error) {
	model, err := aigateway.ParsePattern(cmp.Or(r.Model, "*"))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return func(record *accounting.Record, call *accounting.Call) (charge accounting.Charge, ok bool) {
		if !model.Match(call.Model) || r.Provider != "" && r.Provider != call.Provider {
			return charge, false
		}
		return costs(record, call)
	}, nil
}

const (
	// usualReprice is the period that ends now, for a request without "from".
	usualReprice = 30 * 24 * time.Hour
	// maxReprice is the largest size of a request body, in bytes.
	maxReprice = 1 << 10
)

// serveReprice recomputes the costs of records with the current prices.
func (a *app) serveReprice(w http.ResponseWriter, r *http.Request) error {
	wanted := repriceRequest{To: time.Now(), From: time.Now().Add(-usualReprice)}
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReprice))
	body.DisallowUnknownFields()
	if err := body.Decode(&wanted); err != nil {
		return caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("reading request: %w", err)}
	}
	price, err := wanted.pricer(a.costOf)
	if err != nil {
		return caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: err}
	}
	views := []api.Repriced{}
	for _, same := range a.byDatabase() {
		store := same[0].Store
		ledger, ok := store.(accounting.LedgerRepricer)
		if !ok {
			continue
		}
		if err := wanted.record(r, store); err != nil {
			return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
		changes, err := ledger.Reprice(r.Context(), accounting.RepriceQuery{
			From: wanted.From, To: wanted.To, DryRun: wanted.DryRun, Price: price,
		})
		if err != nil {
			return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
		}
		for _, change := range changes {
			views = append(views, viewRepriced(change))
		}
	}
	return writeAdmin(w, api.List(views))
}

// record adds a row to the audit log of a store before it changes costs.
func (r *repriceRequest) record(sent *http.Request, store aigateway.Store) error {
	if r.DryRun {
		return nil
	}
	row := aigateway.AuditEntry{Action: "ledger.reprice", Object: "ledger"}
	for _, part := range [][2]string{{"from", r.From.UTC().Format(time.RFC3339)}, {"to", r.To.UTC().Format(time.RFC3339)}, {"model", r.Model}, {"provider", r.Provider}} {
		if part[1] != "" {
			row.Changes = append(row.Changes, aigateway.AuditChange{Field: part[0], After: part[1]})
		}
	}
	return audit(sent, store, row)
}

// audit adds a row to the audit log of a store, if it has one, about a request to the admin API.
func audit(sent *http.Request, store aigateway.Store, row aigateway.AuditEntry) error {
	log, ok := store.(aigateway.AuditLog)
	if !ok {
		return nil
	}
	actor := aigateway.Actor{Name: aigateway.ActorAdminAPI, Address: aigateway.ClientAddressText(sent)}
	return log.Audit(aigateway.WithActor(sent.Context(), actor), row)
}

func viewRepriced(c accounting.Repriced) api.Repriced {
	return api.Repriced{
		Provider: c.Provider, Model: c.Model, OldPrice: c.OldPrice, NewPrice: c.NewPrice, Calls: c.Calls,
		OldMicro: (c.Old.Nanos + 500) / 1000, OldCurrency: c.Old.Currency,
		NewMicro: (c.New.Nanos + 500) / 1000, NewCurrency: c.New.Currency,
	}
}

// costOf returns the cost of a call by the prices of the first site that knows the whole of it,
// else of the first that knows a part.
// It is an accounting.Pricer.
func (a *app) costOf(r *accounting.Record, call *accounting.Call) (charge accounting.Charge, ok bool) {
	for _, site := range a.sites {
		known, some := meter.Cost(site.resolved.catalog, r, call, call.KnownUnits())
		if some && known.Source != accounting.CostInPart {
			return known, true
		}
		if some && !ok {
			charge, ok = known, true
		}
	}
	return charge, ok
}
