package reports

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// comparison is the answer with the targets that requests were sent to, mirrors last.
type comparison struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Scanned string   `json:"scanned_since"` // empty if all records were counted
	Items   []*party `json:"items"`
}

// party is a target that requests were sent to, by clients or as copies.
type party struct {
	Provider string `json:"provider"`
	Upstream string `json:"upstream_model"`
	Mirror   bool   `json:"mirror"` // the requests were copies

	// Choices are the requests for which the target was the last one, by why it was asked.
	Choices map[string]int64 `json:"choices"`

	// Finishes are the shares of the answers that ended for each reason, of those that state one.
	Finishes map[string]*interval `json:"finish_percent"`
	finishes map[accounting.Finish]int64

	ends
	times
	use
}

// ends are how the requests of a party ended.
type ends struct {
	Requests int64     `json:"requests"`
	Failed   int64     `json:"failed"`         // that the target has not answered, without clients that have left
	Failures *interval `json:"failed_percent"` // of the requests
}

// times are how fast a party was.
type times struct {
	Median   int64 `json:"first_byte_p50_ms"` // of streams for which no other target was asked; 0 without one
	Slow     int64 `json:"first_byte_p95_ms"`
	Duration int64 `json:"duration_p50_ms"` // of answered calls

	waits, durations []time.Duration
}

// use is what a party has used.
type use struct {
	Input    int64     `json:"input_tokens"`
	Output   int64     `json:"output_tokens"`
	Priced   int64     `json:"priced"` // requests whose cost is known
	Cost     *interval `json:"cost_micro"`
	Currency string    `json:"currency"`

	costs sample
}

// usualComparison is the time of a comparison without a start.
const usualComparison = 24 * time.Hour

// Comparison answers GET /api/v1/records/comparison, with the records that the user may see.
func (r Reports) Comparison(c *call.Call) (any, error) {
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	q, err := recordQuery(c, zone)
	if err != nil {
		return nil, err
	}
	setRange(&q, usualComparison)
	if !q.From.Before(q.To) {
		return nil, answer.Invalid("from must be before to")
	}
	q.Operation = cmp.Or(q.Operation, translate.Generate.String())
	parties := make(map[target]*party)
	start, err := scan(c, reader, q, func(r *accounting.Record) { compare(parties, r) })
	return comparison{timeText(q.From, zone), timeText(q.To, zone), timeText(start, zone), listOf(parties)}, err
}

// target identifies a party.
type target struct {
	provider, model string
	mirror          bool
}

// compare adds a record to the parties that were asked. A target that was asked again counts once, by
// its last call. One whose answer the cache had was not asked.
func compare(parties map[target]*party, r *accounting.Record) {
	asked := slices.DeleteFunc(slices.Clone(r.Course()), func(a accounting.Attempt) bool { return a.Format == "" || a.End == accounting.Cached })
	for i, a := range asked {
		isSame := func(later accounting.Attempt) bool { return later.Provider == a.Provider && later.Model == a.Model }
		if slices.ContainsFunc(asked[i+1:], isSame) {
			continue
		}
		identity := target{a.Provider, a.Model, r.Key == accounting.MirrorKey}
		if parties[identity] == nil {
			parties[identity] = &party{Provider: identity.provider, Upstream: identity.model, Mirror: identity.mirror, Choices: make(map[string]int64), finishes: make(map[accounting.Finish]int64)}
		}
		parties[identity].add(r, &a, len(asked) == 1)
		if r.Choice != "" && i == len(asked)-1 {
			parties[identity].Choices[r.Choice]++
		}
	}
}

// add adds a call of a record. isOnly reports whether no other call was made.
func (p *party) add(r *accounting.Record, a *accounting.Attempt, isOnly bool) {
	p.Requests++
	switch a.End {
	case "answered":
		p.durations = append(p.durations, a.Duration)
	case "client_closed", "lost":
	default:
		p.Failed++
	}
	if isOnly && r.Stream && r.FirstByte > 0 {
		p.waits = append(p.waits, r.FirstByte)
	}
	var nanos int64
	known := true
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Provider != a.Provider || c.Model != a.Model {
			continue
		}
		if c.Finish.String() != "" {
			p.finishes[c.Finish]++
		}
		p.Input += c.Tokens.Fresh + c.Tokens.CacheRead + c.Tokens.Written()
		p.Output += c.Tokens.Output()
		if c.Cost.Currency != "" {
			p.Currency = cmp.Or(p.Currency, c.Cost.Currency)
		}
		known = known && c.Priced() && (c.Cost.Nanos == 0 || c.Cost.Currency == p.Currency)
		nanos += c.Cost.Nanos
	}
	if known {
		p.costs.add(float64(nanos) / 1000)
	}
}

// listOf returns the parties with their figures.
func listOf(parties map[target]*party) []*party {
	all := make([]*party, 0, len(parties))
	for _, p := range parties {
		slices.Sort(p.waits)
		slices.Sort(p.durations)
		p.Median, p.Slow, p.Duration = quantile(p.waits, 50), quantile(p.waits, 95), quantile(p.durations, 50)
		p.Failures, p.Priced, p.Cost = percentOf(p.Failed, p.Requests), p.costs.n, p.costs.mean()
		p.Finishes = sharesOf(p.finishes)
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *party) int {
		if a.Mirror != b.Mirror {
			return map[bool]int{false: -1, true: 1}[a.Mirror]
		}
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Upstream, b.Upstream))
	})
	return all
}

// sharesOf returns the share of each reason.
func sharesOf(finishes map[accounting.Finish]int64) map[string]*interval {
	sum := int64(0)
	for _, n := range finishes {
		sum += n
	}
	shares := make(map[string]*interval, len(finishes))
	for reason, n := range finishes {
		shares[reason.String()] = percentOf(n, sum)
	}
	return shares
}

// interval is a figure with the interval that contains the true one with 95 %: in 19 of 20
// comparisons.
type interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// z is the quantile of the normal distribution with which an interval contains 95 %.
const z = 1.96

// percentOf returns the percentage of some of all, with the interval of Wilson, which holds for few
// requests and for shares near 0 as well.
func percentOf(some, all int64) *interval {
	n := float64(all)
	p := float64(some) / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return &interval{rounded(100 * p), rounded(100 * max(0, middle-half)), rounded(100 * min(1, middle+half))}
}

// rounded returns x with two digits behind the point.
func rounded(x float64) float64 { return math.Round(x*100) / 100 }

// sample adds up numbers by the method of Welford, which keeps the precision of the variance.
type sample struct {
	n               int64
	average, square float64 // square is the sum of the squares of the differences from the average
}

func (s *sample) add(x float64) {
	s.n++
	distance := x - s.average
	s.average += distance / float64(s.n)
	s.square += distance * (x - s.average)
}

// mean returns the mean with the interval of the normal distribution, which holds from about 30
// numbers on. It returns nil for less than two numbers.
func (s *sample) mean() *interval {
	if s.n < 2 {
		return nil
	}
	half := z * math.Sqrt(s.square/float64(s.n-1)/float64(s.n))
	return &interval{rounded(s.average), rounded(max(0, s.average-half)), rounded(s.average + half)}
}
