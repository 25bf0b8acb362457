package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"os"
	"slices"
	"text/tabwriter"
)

// result is one measurement.
type result struct {
	Round    int    `json:"round"`
	Scenario string `json:"scenario"`
	Gateway  string `json:"gateway"`
	measurement
}

// summary is the medians of all rounds of a scenario with a gateway.
type summary struct {
	scenario, gateway string
	measurement
	ratio float64 // of the processor time, beside the baseline
}

// summarize returns a summary of each scenario and gateway, in the order of the results.
func summarize(results []result) []summary {
	var all []summary
	for _, r := range results {
		if slices.ContainsFunc(all, func(s summary) bool { return s.scenario == r.Scenario && s.gateway == r.Gateway }) {
			continue
		}
		all = append(all, summaryOf(results, r.Scenario, r.Gateway))
	}
	return all
}

func summaryOf(results []result, scenario, gateway string) summary {
	of := func(gateway string, value func(measurement) float64) []float64 {
		var values []float64
		for _, r := range results {
			if r.Scenario == scenario && r.Gateway == gateway {
				values = append(values, value(r.measurement))
			}
		}
		return values
	}
	at := func(value func(measurement) float64) float64 { return median(of(gateway, value)) }
	cpu := func(m measurement) float64 { return m.CPU }
	ratios := of(gateway, cpu)
	for i, base := range of(baseline, cpu) {
		ratios[i] /= base
	}
	return summary{scenario: scenario, gateway: gateway, ratio: median(ratios), measurement: measurement{
		Requests: int(at(func(m measurement) float64 { return float64(m.Requests) })), CPU: at(cpu),
		Allocations: at(func(m measurement) float64 { return m.Allocations }), Rate: at(func(m measurement) float64 { return m.Rate }),
		P50: at(func(m measurement) float64 { return m.P50 }), P99: at(func(m measurement) float64 { return m.P99 }),
		First: at(func(m measurement) float64 { return m.First }), Memory: at(func(m measurement) float64 { return m.Memory }),
	}}
}

// median returns the median of at least one value, and sorts the values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}

// table prints the summaries.
func table(w io.Writer, all []summary) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scenario\tgateway\tCPU us\tx caddy\trequests/s\tp50 us\tp99 us\tfirst byte us\tallocations\tmemory MB\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t\n",
			s.scenario, s.gateway, s.CPU, s.ratio, s.Rate, s.P50, s.P99, s.First, s.Allocations, s.Memory)
	}
	_ = t.Flush() // to the standard output
}

// writeJSON writes the results of all rounds.
func writeJSON(path string, results []result) error {
	encoded, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(encoded, '\n'), 0o644)
}

// The sizes of the chart, in pixels.
const (
	chartLabel = 230 // width of the names
	chartUnit  = 260 // width of the baseline's bar
	chartBar   = 14
	chartGap   = 12
)

// colors are the colors of the bars, in the order of the setups: readable on white and on
// black.
var colors = []string{"#888888", "#1f9e89", "#3b7dd8", "#b5541c"}

// chart returns an SVG chart of the processor times beside the baseline.
func chart(all []summary) []byte {
	var bars bytes.Buffer
	y, scenario := 30, ""
	for _, s := range all {
		if s.scenario != scenario {
			scenario = s.scenario
			y += chartGap
			fmt.Fprintf(&bars, `<text x="0" y="%d">%s</text>`+"\n", y+chartBar-3, html.EscapeString(scenario))
		}
		i := slices.IndexFunc(setups, func(u setup) bool { return u.name == s.gateway })
		width := int(s.ratio * chartUnit)
		fmt.Fprintf(&bars, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/><text x="%d" y="%d">%.2f %s</text>`+"\n",
			chartLabel, y, width, chartBar-2, colors[i], chartLabel+width+6, y+chartBar-3, s.ratio, s.gateway)
		y += chartBar
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="860" height="%d" font-family="sans-serif" font-size="12" fill="#777777">`+"\n", y+10)
	fmt.Fprintf(&b, `<text x="0" y="16">Processor time of a request, beside plain reverse_proxy (1.00). Shorter is better.</text>`+"\n")
	b.Write(bars.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}
