package accounting

import (
	"context"
	"time"
)

// Deferred is a charge that becomes known after the exchange has ended, such as that of an answer
// which a provider generates in the background. Until then, the record of the exchange has what
// was reserved, so that the end of the process loses no money.
type Deferred struct {
	Account string // the account at the provider
	Object  string // the provider's id of what is charged; unique in the account

	Record  Record    // of the exchange that was charged, as it is in the ledger
	Due     time.Time // when the provider is asked next
	Expires time.Time // from then on, the charge stays what was reserved
}

// DeferringLedger is an optional interface of a Ledger that keeps deferred charges. All gateways
// with the same database share the charges.
type DeferringLedger interface {
	// Defer keeps a charge whose record has ended. If that fails, Defer logs the error, and the
	// charge stays what was reserved.
	Defer(Deferred)
	// Deferred returns the charge of an object, nil if there is none, or it is settled.
	Deferred(ctx context.Context, account, object string) (*Deferred, error)
	// Claim returns the charges that are due, of which next returns when they are due again, and
	// moves them to that time: no other gateway gets them before. It leaves out those for which
	// next returns false.
	Claim(ctx context.Context, next func(*Deferred) (due time.Time, ok bool)) ([]Deferred, error)
	// SettleDeferred ends a charge, and replaces the calls of its record, unless calls is nil. Of
	// all calls for one charge, it reports true for one.
	SettleDeferred(ctx context.Context, charge *Deferred, calls []Call) (settled bool, err error)
}
