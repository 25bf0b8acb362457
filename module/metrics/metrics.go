// Package metrics has the metrics of the gateway, all of them with the prefix
// caddy_ai_gateway_, as functions that count one event each.
//
// It promises that counts continue over reloads, that counting allocates nothing once
// a series exists, and that series of names which no configuration has any more
// disappear. Labels are names of the configuration and words of this repository: it
// refuses keys, users, names that only a client chose, and texts of errors.
package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// collectors are all metrics. Every configuration of Caddy has a registry of its own,
// so the collectors belong to the process.
var collectors = []prometheus.Collector{
	exchanges, exchangeDuration, overhead, inFlight,
	attempts, fallbacks, firstEvent, eventGap, providers, losses,
	tokens, cost, unpriced, searches, usageSources, pricesTime,
	limitDecisions, budgets, countersDuration, countersFallback,
	ledgerRecords, ledgerAppend, ledgerApply, ledgerOrphans, ledgerRefusals, ledgerDamaged, ledgers,
}

// Register adds the metrics to the registry of a configuration. Further calls with the
// same registry have no effect.
func Register(registry *prometheus.Registry) error {
	for _, c := range collectors {
		err := registry.Register(c)
		if already := (prometheus.AlreadyRegisteredError{}); err != nil && !errors.As(err, &already) {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return nil
}

// options returns the name and the help text of a metric.
func options(name, help string) prometheus.Opts {
	return prometheus.Opts{Namespace: "caddy", Subsystem: "ai_gateway", Name: name, Help: help}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts(options(name, help)), labels)
}

// count returns a counter without labels. It is 0 from the start, so that the first
// event is an increase.
func count(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts(options(name, help)))
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts(options(name, help)), labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(histogramOptions(name, help, buckets), labels)
}

func histogramOptions(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Namespace: "caddy", Subsystem: "ai_gateway", Name: name, Help: help, Buckets: buckets}
}
