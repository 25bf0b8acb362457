package accounting

import (
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// RecordQuery selects a page of records, the newest first. An empty field selects all.
type RecordQuery struct {
	Before   int64     // only records with a smaller ID
	From, To time.Time // exchanges that were admitted at or after From, and before To
	User     string
	Key      string // ID of the key
	Model    string // name that the client used
	Outcome  string
	Request  string // id of the request
	RecordFilter
	Limit int // largest number of records, at least 1
}

// RecordFilter are further properties of records. Provider and Upstream are those of one of
// the calls.
type RecordFilter struct {
	KeyLimit  string // name of the limit of the key
	Operation string
	Format    string // of the client
	Provider  string
	Upstream  string // the provider's own name of the model
	Status    int    // sent to the client
	Stream    *bool  // whether the client asked for a stream
	Tag       aigateway.Tag
	Customer  string

	MinDuration time.Duration
	MinCost     int64 // of all calls, in billionths of a unit of their currency
}

// Selects reports whether a record has the texts, the status, the kind of answer and at least the
// amounts of the query. It does not compare IDs and times.
func (q *RecordQuery) Selects(r *Record) bool {
	for _, field := range [...]struct{ wanted, has string }{
		{q.Key, r.Key}, {q.User, r.User}, {q.Model, r.Model}, {q.Outcome, r.Outcome}, {q.Request, r.Request},
		{q.KeyLimit, r.Limit}, {q.Operation, r.Operation}, {q.Format, r.Format}, {q.Customer, r.Customer},
	} {
		if field.wanted != "" && field.wanted != field.has {
			return false
		}
	}
	if q.Tag.Name != "" && !slices.Contains(r.Tags, q.Tag) {
		return false
	}
	if r.Duration < q.MinDuration || q.MinCost > 0 && r.Cost() < q.MinCost {
		return false
	}
	return (q.Status == 0 || q.Status == r.Status) && (q.Stream == nil || *q.Stream == r.Stream) && q.selectsCall(r.Calls)
}

// selectsCall reports whether one of the calls has the texts of the query.
func (q *RecordQuery) selectsCall(calls []Call) bool {
	if q.Provider == "" && q.Upstream == "" {
		return true
	}
	for i := range calls {
		if (q.Provider == "" || q.Provider == calls[i].Provider) && (q.Upstream == "" || q.Upstream == calls[i].Model) {
			return true
		}
	}
	return false
}

// Cost returns the cost of all calls of the record, in billionths of a unit of their currency.
func (r *Record) Cost() (nanos int64) {
	for i := range r.Calls {
		nanos += r.Calls[i].Cost.Nanos
	}
	return nanos
}
