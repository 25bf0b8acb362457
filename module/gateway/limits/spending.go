package limits

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
)

// members maps each limit of a whole configuration to the names of the limits within it,
// its own name included. A query of the ledger for a limit needs these names, because a
// record only has the limit that its key names.
type members struct {
	mu     sync.Mutex // guards chains
	chains map[string][]string
}

func newMembers() *members { return &members{chains: make(map[string][]string)} }

// add adds the limit with a name to all limits of its chain.
func (m *members) add(name string, chain []*aigateway.Limit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, limit := range chain {
		if !slices.Contains(m.chains[limit.Name], name) {
			m.chains[limit.Name] = append(m.chains[limit.Name], name)
		}
	}
}

func (m *members) within(limit string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.chains[limit])
}

// spending implements aigateway.Spending with the ledger of a site.
type spending struct {
	book    *backends.Book
	members *members
	models  models
}

// Zone implements aigateway.Spending.
func (s *spending) Zone() *time.Location { return s.book.Zone() }

// patience is the longest time for which a request waits for the ledger.
const patience = 5 * time.Second

// Spent implements aigateway.Spending.
func (s *spending) Spent(ctx context.Context, l *aigateway.Limit, key *aigateway.Key, since time.Time) (spent []aigateway.Spent, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := time.Now()
	q := s.query(l, key, since, now)
	if len(s.models[l.Name]) > 0 {
		q.By = append(q.By, accounting.ByModel)
	}
	sums, err := s.sums(ctx, l, key, q)
	for i := range sums {
		if s.models.count(l, sums[i].Model) {
			spent = append(spent, spentOf(&sums[i], now))
		}
	}
	return spent, err
}

// spentOf returns the costs of a sum, which is of an hour or of a whole period.
func spentOf(sum *accounting.Usage, now time.Time) aigateway.Spent {
	latest := now
	if !sum.At.IsZero() {
		latest = sum.At.Add(time.Hour)
	}
	return aigateway.Spent{By: latest, Nanos: sum.Cost.Nanos + sum.Held}
}

// sums returns the sums of a query. Requests without the label that the limit counts have no
// sums of their own: their costs are those of all requests without those of the labelled ones. Copies
// for mirrors are in no budget, and have no limit: only a query for all limits includes them.
func (s *spending) sums(ctx context.Context, l *aigateway.Limit, key *aigateway.Key, q accounting.UsageQuery) ([]accounting.Usage, error) {
	sums, err := s.book.Usage(ctx, q)
	subject := l.Subject(key)
	switch {
	case err != nil:
		return nil, err
	case subject.Per.Labelled() && subject.Name == "":
		q.Label = accounting.Dimension(subject.Per)
	case l.Per == aigateway.PerGateway:
		q.Only = map[accounting.Dimension]string{accounting.ByKey: accounting.MirrorKey}
	default:
		return sums, nil
	}
	others, err := s.book.Usage(ctx, q)
	for _, sum := range others {
		if i := slices.IndexFunc(sums, func(all accounting.Usage) bool { return all.At.Equal(sum.At) && all.Model == sum.Model }); i >= 0 {
			sums[i].Cost.Nanos -= sum.Cost.Nanos
			sums[i].Held -= sum.Held
		}
	}
	return sums, err
}

// query returns the query for the costs that count in a limit for the subject of a key.
func (s *spending) query(l *aigateway.Limit, key *aigateway.Key, since, now time.Time) accounting.UsageQuery {
	q := period(l, since, now)
	switch subject := l.Subject(key); subject.Per {
	case aigateway.PerKey:
		q.Only = map[accounting.Dimension]string{accounting.ByKey: subject.Name}
	case aigateway.PerUser:
		q.Only = map[accounting.Dimension]string{accounting.ByUser: subject.Name}
	default:
		if subject.Per.Labelled() && subject.Name != "" {
			q.Label, q.Value = accounting.Dimension(subject.Per), subject.Name
		}
	}
	if l.Per != aigateway.PerGateway && !l.IsOwn() { // own rules count whatever limit the key names
		q.Limits = s.members.within(l.Name)
	}
	return q
}

// period returns the query for all costs in the period of a budget.
func period(l *aigateway.Limit, since, now time.Time) accounting.UsageQuery {
	q := accounting.UsageQuery{From: since, To: now.Add(time.Hour), Currency: l.Budget.Unit()}
	if since.IsZero() {
		q.From = time.Unix(0, 0)
	}
	if l.Budget.Calendar == "" {
		q.By = []accounting.Dimension{accounting.ByHour}
	}
	return q
}
