package aigateway

import (
	"context"
	"time"
)

// LedgerRepricer is an optional interface of a Store that keeps a ledger.
type LedgerRepricer interface {
	// Reprice computes the costs of calls anew, and returns how the costs change, by
	// model and price. Records never change: a changed cost is a correction beside
	// the record, and is in the sums of Usage. Corrected calls stay as they are until
	// their price changes again, so that a repeated Reprice changes nothing.
	Reprice(context.Context, RepriceQuery) ([]Repriced, error)
}

// Pricer returns what a call of an exchange costs, and the name of the price. ok is
// false if the cost is unknown.
type Pricer func(*Record, *Call) (cost Cost, price string, ok bool)

// RepriceQuery selects the calls whose costs are computed anew.
type RepriceQuery struct {
	From, To time.Time // exchanges that were admitted from From on, before To
	Price    Pricer    // calls whose cost is unknown to it keep their cost
	DryRun   bool      // only return what would change
}

// Repriced is how the costs of some calls of a model change.
type Repriced struct {
	Provider, Model    string // the provider's own name of the model
	OldPrice, NewPrice string // the names of the prices; OldPrice is empty if it was unknown
	Calls              int64
	Old, New           Cost // of all calls together; Old is zero if it was unknown
}
