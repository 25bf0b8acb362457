package metrics

import "github.com/prometheus/client_golang/prometheus"

// LimitLevel is the use of a rule of a limit per group or per gateway. Money is in units of
// its currency.
type LimitLevel struct {
	Limit, Scope, Rule   string
	Used, Reserved, Left float64
}

// WatchLimits makes every scrape call levels, until stop is called. levels is called from
// other goroutines.
func WatchLimits(levels func() []LimitLevel) (stop func()) { return limits.add(levels) }

// limitLevels is the collector of the levels of all configurations.
type limitLevels struct{ watched[[]LimitLevel] }

var limits = new(limitLevels)

var (
	limitLabels = []string{"limit", "per", "rule"}
	limitUsed   = prometheus.NewDesc("caddy_ai_gateway_limit_used",
		"The part of a limit per group or per gateway that requests have used in the period.", limitLabels, nil)
	limitReserved = prometheus.NewDesc("caddy_ai_gateway_limit_reserved",
		"The part of a limit per group or per gateway that running requests have reserved.", limitLabels, nil)
	limitLeft = prometheus.NewDesc("caddy_ai_gateway_limit_left",
		"The part of a limit per group or per gateway that is neither used nor reserved.", limitLabels, nil)
)

// Describe implements prometheus.Collector.
func (l *limitLevels) Describe(descs chan<- *prometheus.Desc) {
	descs <- limitUsed
	descs <- limitReserved
	descs <- limitLeft
}

// Collect implements prometheus.Collector. If several sites or configurations have a limit of
// the same name, the one with the least left is shown.
func (l *limitLevels) Collect(metrics chan<- prometheus.Metric) {
	least := make(map[[3]string]LimitLevel)
	for _, levels := range l.states() {
		for _, level := range levels {
			labels := [3]string{level.Limit, level.Scope, level.Rule}
			if known, ok := least[labels]; !ok || level.Left < known.Left {
				least[labels] = level
			}
		}
	}
	for labels, level := range least {
		metrics <- prometheus.MustNewConstMetric(limitUsed, prometheus.GaugeValue, level.Used, labels[:]...)
		metrics <- prometheus.MustNewConstMetric(limitReserved, prometheus.GaugeValue, level.Reserved, labels[:]...)
		metrics <- prometheus.MustNewConstMetric(limitLeft, prometheus.GaugeValue, level.Left, labels[:]...)
	}
}
