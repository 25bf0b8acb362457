// Package metrics has the metrics of the gateway, with the prefix caddy_ai_gateway_. Each
// kind of event has a function that counts it.
//
// Counts continue after reloads. Counting allocates nothing if the series exists. When no
// configuration has a name any more, the series of the name are deleted. Labels are names of
// the configuration and words of this repository, never keys, users, names that a client
// made up, or texts of errors.
package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// collectors are all metrics. They belong to the process, because every configuration of
// Caddy has its own registry, and counts must continue after a reload.
var collectors = []prometheus.Collector{
	exchanges, exchangeDuration, overhead, inFlight, queued, openSockets, mirrors, hedges,
	attempts, choices, fallbacks, firstEvent, eventGap, providers, losses,
	tokens, cost, saved, unpriced, searches, usageSources, pricesTime,
	limitDecisions, guardVerdicts, budgets, limits, countersDuration, countersFallback,
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

// count returns a counter without labels. Its series begins with 0, so that Prometheus sees
// the first event as an increase.
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
