package accounting

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// LedgerRepricer is an optional interface of a Store that keeps a ledger.
type LedgerRepricer interface {
	// Reprice recomputes the costs of calls, and returns the changes by model and price.
	// Records do not change: a changed cost is stored as a correction of the record, and
	// is included in the sums of Usage. A second Reprice with the same prices changes
	// nothing.
	Reprice(context.Context, RepriceQuery) ([]Repriced, error)
}

// Pricer returns the charge for a call of an exchange. ok is false if nothing is known of it.
type Pricer func(*Record, *Call) (charge Charge, ok bool)

// Charge is the cost of a call by a price: see Call.
type Charge struct {
	Price  string
	Cost   aigateway.Cost
	Source CostSource
}

// RepriceQuery selects the calls whose costs are recomputed.
type RepriceQuery struct {
	From, To time.Time // exchanges that were admitted at or after From, and before To
	Price    Pricer    // a call keeps its cost if Price does not know it, or less of it
	DryRun   bool      // return the changes without storing them
}

// Repriced is the change of the costs of calls of a model with the same old price and the
// same new price.
type Repriced struct {
	Provider, Model    string         // the provider's own name of the model
	OldPrice, NewPrice string         // the names of the prices; OldPrice is empty if it was unknown
	Calls              int64          // number of the calls
	Old, New           aigateway.Cost // sums over the calls; Old is zero if it was unknown
}
