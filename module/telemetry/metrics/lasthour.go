package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Hour is what the metrics counted in each minute of the last hour, the oldest first. The last
// minute is the running one. The lists have one element for each minute, at most HourMinutes.
type Hour struct {
	From      time.Time      `json:"from"` // the beginning of the first minute
	Providers []ProviderHour `json:"providers"`

	Unshared      []int64 `json:"unshared"`       // decisions of limits without their shared counters
	LedgerRefused []int64 `json:"ledger_refused"` // requests that began while the ledger could not be written
	LedgerDamaged []int64 `json:"ledger_damaged"` // damaged parts of the journal

	Ledger *LedgerBacklog `json:"ledger"` // of this moment; nil without a ledger
}

// LedgerBacklog is what the open ledgers of the process have not written to the database yet.
type LedgerBacklog struct {
	Pending int64 `json:"pending"`
	Bytes   int64 `json:"bytes"`          // of the journal
	Oldest  int64 `json:"oldest_seconds"` // age of the oldest pending record
}

// ProviderHour is what was counted of a provider.
type ProviderHour struct {
	Name   string  `json:"name"`
	Calls  []int64 `json:"calls"`
	Failed []int64 `json:"failed"` // calls that were neither answered nor ended by the request or its client

	// P50 and P95 are the percentiles of the times to the first event of streams, in
	// milliseconds, between the bounds of the histogram; nil without streams.
	P50 []*int64 `json:"p50_ms"`
	P95 []*int64 `json:"p95_ms"`
}

// HourMinutes is the largest number of minutes of an Hour.
const HourMinutes = 60

// blameless are the results of attempts that no provider causes.
var blameless = map[string]bool{"answered": true, "client_closed": true, "lost": true, "refused": true}

// cached is the result of an attempt that the cache of answers has answered: no provider was called.
const cached = "cached"

// hour has the counts at the end of each of the last minutes. Requests pay nothing for it: a sample
// of 20 providers with 10 models each takes 2 ms, once a minute. Without Prometheus, nothing else
// has the failures and the times of a provider by minute: the sums over records are by the hour.
var hour sampler

// KeepHour samples the metrics each minute until stop is called. Several callers share the
// samples.
func KeepHour() (stop func()) { return hour.hold() }

// LastHour returns what was counted of providers since KeepHour was called, for an hour at
// most.
func LastHour(providers []string) Hour { return hour.show(providers, take()) }

// sampler keeps samples while it is held.
type sampler struct {
	mu      sync.Mutex // guards the fields below
	holders int
	end     chan struct{} // is closed when the last holder stops
	samples []sample      // the oldest first
}

func (s *sampler) hold() (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders++; s.holders == 1 {
		s.samples, s.end = []sample{take()}, make(chan struct{})
		go s.run(s.end)
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holders--; s.holders == 0 {
			close(s.end)
		}
	})
}

func (s *sampler) run(end <-chan struct{}) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.add(take())
		case <-end:
			return
		}
	}
}

func (s *sampler) add(next sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, next)
	if len(s.samples) > HourMinutes {
		s.samples = append([]sample{}, s.samples[1:]...)
	}
}

// show returns the differences between the samples, and of the last one to now.
func (s *sampler) show(providers []string, now sample) Hour {
	s.mu.Lock()
	all := append(append([]sample{}, s.samples...), now)
	s.mu.Unlock()
	h := Hour{From: all[0].taken.UTC(), Providers: []ProviderHour{}, Unshared: []int64{}, LedgerRefused: []int64{}, LedgerDamaged: []int64{}}
	for i, next := range all[1:] {
		h.Unshared = append(h.Unshared, since(next.unshared, all[i].unshared))
		h.LedgerRefused = append(h.LedgerRefused, since(next.refused, all[i].refused))
		h.LedgerDamaged = append(h.LedgerDamaged, since(next.damaged, all[i].damaged))
	}
	if ledger, oldest, open := ledgers.sum(); open {
		h.Ledger = &LedgerBacklog{ledger.Pending, ledger.Bytes, int64(oldest.Seconds())}
	}
	for _, name := range providers {
		p := ProviderHour{Name: name, Calls: []int64{}, Failed: []int64{}, P50: []*int64{}, P95: []*int64{}}
		for i, next := range all[1:] {
			last, latest := all[i].countsOf(name), next.countsOf(name)
			p.Calls = append(p.Calls, since(latest.calls, last.calls))
			p.Failed = append(p.Failed, since(latest.failed, last.failed))
			p.P50 = append(p.P50, percentile(0.5, last.first, latest.first))
			p.P95 = append(p.P95, percentile(0.95, last.first, latest.first))
		}
		h.Providers = append(h.Providers, p)
	}
	return h
}

// since returns the increase of a counter. A counter that begins anew has counted all it has.
func since(next, last float64) int64 {
	if next < last {
		return int64(next)
	}
	return int64(next - last)
}

// sample has counts at a time.
type sample struct {
	taken                      time.Time
	providers                  map[string]*counts
	unshared, refused, damaged float64
}

// counts are those of a provider.
type counts struct {
	calls, failed float64
	first         []*dto.Bucket // cumulative, of all models; none before the first stream
}

func (s *sample) countsOf(provider string) counts {
	if c := s.providers[provider]; c != nil {
		return *c
	}
	return counts{}
}

// take returns the counts of this moment.
func take() sample {
	s := sample{taken: time.Now(), providers: make(map[string]*counts)}
	s.unshared, s.refused, s.damaged = total(countersFallback), total(ledgerRefusals), total(ledgerDamaged)
	for _, m := range collect(attempts) {
		result := valueOf(m, "result")
		if result == cached {
			continue
		}
		c := s.provider(m)
		c.calls += m.GetCounter().GetValue()
		if !blameless[result] {
			c.failed += m.GetCounter().GetValue()
		}
	}
	for _, m := range collect(firstEvent) {
		c := s.provider(m)
		c.first = sum(c.first, m.GetHistogram().GetBucket())
	}
	return s
}

// provider returns the counts of the provider of a metric.
func (s *sample) provider(m *dto.Metric) *counts {
	name := valueOf(m, "provider")
	if s.providers[name] == nil {
		s.providers[name] = new(counts)
	}
	return s.providers[name]
}

func valueOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func total(collector prometheus.Collector) (n float64) {
	for _, m := range collect(collector) {
		n += m.GetCounter().GetValue()
	}
	return n
}

// collect returns the metrics of a collector.
func collect(collector prometheus.Collector) (all []*dto.Metric) {
	metrics := make(chan prometheus.Metric)
	go func() {
		collector.Collect(metrics)
		close(metrics)
	}()
	for m := range metrics {
		read := new(dto.Metric)
		if m.Write(read) == nil { // only invalid metrics fail
			all = append(all, read)
		}
	}
	return all
}

// sum adds the buckets of histograms with the same bounds.
func sum(a, b []*dto.Bucket) []*dto.Bucket {
	if a == nil {
		return b
	}
	for i := range a {
		a[i].CumulativeCount = new(a[i].GetCumulativeCount() + b[i].GetCumulativeCount())
	}
	return a
}

// percentile returns a percentile of what buckets have counted since the last ones, in milliseconds,
// with an even distribution within each bucket. It returns nil if they have counted nothing
// up to the highest bound.
func percentile(share float64, last, next []*dto.Bucket) *int64 {
	counted := make([]float64, len(next))
	for i, bucket := range next {
		counted[i] = float64(bucket.GetCumulativeCount())
		if len(last) > 0 {
			counted[i] = max(0, counted[i]-float64(last[i].GetCumulativeCount()))
		}
	}
	if len(counted) == 0 || counted[len(counted)-1] == 0 {
		return nil
	}
	rank, low, lower := share*counted[len(counted)-1], 0.0, 0.0
	for i, bucket := range next {
		if counted[i] >= rank {
			low += (bucket.GetUpperBound() - low) * (rank - lower) / max(1, counted[i]-lower)
			break
		}
		low, lower = bucket.GetUpperBound(), counted[i]
	}
	return new(int64(low * 1000))
}
