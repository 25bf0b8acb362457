package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	ledgerRecords = counter("ledger_records_total",
		"Records that were written to the database (applied), and failures to write one, which is tried again (failed).",
		"result")

	ledgerAppend = prometheus.NewHistogram(histogramOptions("ledger_append_seconds",
		"Time that a request waits for the journal.",
		[]float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1}))

	ledgerApply = prometheus.NewHistogram(histogramOptions("ledger_apply_seconds",
		"Time to write a batch of records to the database.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}))

	ledgerOrphans = count("ledger_orphans_total",
		"Exchanges that were running when a process crashed, found in the journal at a start.")

	ledgerRefusals = count("ledger_refusals_total",
		"Requests that began while the ledger could not be written.")

	ledgerDamaged = count("ledger_damaged_total",
		"Damaged parts of the journal that were skipped.")

	ledgers = new(ledgerStates)
)

// The results of records.
const (
	RecordsApplied = "applied"
	RecordsFailed  = "failed" // the records are tried again
)

// LedgerRecords counts records by the result of writing them to the database.
func LedgerRecords(result string, n int) { ledgerRecords.WithLabelValues(result).Add(float64(n)) }

// LedgerAppend counts the time that a request waited for the journal.
func LedgerAppend(d time.Duration) { ledgerAppend.Observe(d.Seconds()) }

// LedgerApply counts the time in which a batch was written to the database.
func LedgerApply(d time.Duration) { ledgerApply.Observe(d.Seconds()) }

// LedgerOrphans counts exchanges that were running when a process crashed.
func LedgerOrphans(n int) { ledgerOrphans.Add(float64(n)) }

// LedgerRefusal counts a request that began while the ledger could not be written.
func LedgerRefusal() { ledgerRefusals.Inc() }

// LedgerDamaged counts a damaged part of the journal.
func LedgerDamaged() { ledgerDamaged.Inc() }

// LedgerState is the state of a journal.
type LedgerState struct {
	Pending int64     // number of records that are not in the database yet
	Bytes   int64     // size of the journal
	Oldest  time.Time // when the oldest pending record was admitted; zero without one
}

// WatchLedger makes every scrape call state, until stop is called. state is called from
// other goroutines, and must not wait for a disk or a database.
func WatchLedger(state func() LedgerState) (stop func()) { return ledgers.add(state) }

// ledgerStates is the collector of the states of all open ledgers.
type ledgerStates struct{ watched[LedgerState] }

var (
	ledgerPending = prometheus.NewDesc("caddy_ai_gateway_ledger_pending_records",
		"Records in the journal that are not in the database yet.", nil, nil)
	ledgerBytes = prometheus.NewDesc("caddy_ai_gateway_ledger_journal_bytes",
		"Size of the journal.", nil, nil)
	ledgerOldest = prometheus.NewDesc("caddy_ai_gateway_ledger_oldest_pending_seconds",
		"Age of the oldest record that is not in the database yet.", nil, nil)
)

// Describe implements prometheus.Collector.
func (l *ledgerStates) Describe(descs chan<- *prometheus.Desc) {
	descs <- ledgerPending
	descs <- ledgerBytes
	descs <- ledgerOldest
}

// Collect implements prometheus.Collector. Without a ledger there are no series.
func (l *ledgerStates) Collect(metrics chan<- prometheus.Metric) {
	sum, oldest, open := l.sum()
	if !open {
		return
	}
	metrics <- prometheus.MustNewConstMetric(ledgerPending, prometheus.GaugeValue, float64(sum.Pending))
	metrics <- prometheus.MustNewConstMetric(ledgerBytes, prometheus.GaugeValue, float64(sum.Bytes))
	metrics <- prometheus.MustNewConstMetric(ledgerOldest, prometheus.GaugeValue, oldest.Seconds())
}

// sum returns the sum of the states, and the age of the oldest pending record. open is false
// without a ledger.
func (l *ledgerStates) sum() (sum LedgerState, oldest time.Duration, open bool) {
	states := l.states()
	for _, s := range states {
		sum.Pending += s.Pending
		sum.Bytes += s.Bytes
		if !s.Oldest.IsZero() {
			oldest = max(oldest, time.Since(s.Oldest))
		}
	}
	return sum, oldest, len(states) > 0
}
