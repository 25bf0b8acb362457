package metrics

import "github.com/prometheus/client_golang/prometheus"

// WatchProviders makes every scrape call available, until stop is called. available reports
// for each provider, by its name, whether it can be asked. It is called from other
// goroutines.
func WatchProviders(available func() map[string]bool) (stop func()) { return providers.add(available) }

// providerStates is the collector of the providers of all configurations.
type providerStates struct{ watched[map[string]bool] }

var providers = new(providerStates)

var providerAvailable = prometheus.NewDesc("caddy_ai_gateway_provider_available",
	"0 if all targets of the provider have failed and none has answered after that; else 1.", []string{"provider"}, nil)

// Describe implements prometheus.Collector.
func (p *providerStates) Describe(descs chan<- *prometheus.Desc) { descs <- providerAvailable }

// Collect implements prometheus.Collector. A provider of several configurations is
// available if it is in one of them.
func (p *providerStates) Collect(metrics chan<- prometheus.Metric) {
	values := make(map[string]float64)
	for _, available := range p.states() {
		for name, is := range available {
			values[name] += 0
			if is {
				values[name] = 1
			}
		}
	}
	for name, value := range values {
		metrics <- prometheus.MustNewConstMetric(providerAvailable, prometheus.GaugeValue, value, name)
	}
}
