package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is one measurement.
type result struct {
	Round    int         `json:"round"`
	Scenario string      `json:"scenario"`
	Gateway  string      `json:"gateway"`
	Figures  measurement `json:"figures"`
}

// summary is the medians of all rounds of a scenario with a gateway.
type summary struct {
	scenario, gateway string
	values            measurement
	relative          measurement // how the values compare with the baseline of their round
}

// ratio is the processor time beside the baseline.
func (s summary) ratio() float64 { return s.relative[cpu] }

// summarize returns a summary of each scenario and gateway, in the order of the results.
func summarize(results []result) []summary {
	var all []summary
	for _, r := range results {
		if !slices.ContainsFunc(all, func(s summary) bool { return s.scenario == r.Scenario && s.gateway == r.Gateway }) {
			all = append(all, summaryOf(results, r.Scenario, r.Gateway))
		}
	}
	return all
}

func summaryOf(results []result, scenario, gateway string) summary {
	rounds := func(gateway string) (all []measurement) {
		for _, r := range results {
			if r.Scenario == scenario && r.Gateway == gateway {
				all = append(all, r.Figures)
			}
		}
		return all
	}
	own, base := rounds(gateway), rounds(baseline)
	s := summary{scenario, gateway, measurement{}, measurement{}}
	for _, f := range figures {
		if _, measured := own[0][f.name]; !measured {
			continue
		}
		var values, relative []float64
		for i, m := range own {
			values, relative = append(values, m[f.name]), append(relative, f.beside(m[f.name], base[i][f.name]))
		}
		s.values[f.name], s.relative[f.name] = median(values), median(relative)
	}
	return s
}

// median returns the median of at least one value, and sorts the values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}

// measured returns the figures that a summary has.
func measured(all []summary) (found []figure) {
	for _, f := range figures {
		if slices.ContainsFunc(all, func(s summary) bool { _, has := s.values[f.name]; return has }) {
			found = append(found, f)
		}
	}
	return found
}

// table returns the summaries as a table of Markdown.
func table(all []summary) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	titles, line := "| scenario\t| gateway\t|", "|---\t|---\t|"
	columns := measured(all)
	for _, f := range columns {
		titles += " " + f.title + "\t|"
		line += "--:\t|"
	}
	fmt.Fprintf(t, "%s\n%s\n", titles, line)
	for _, s := range all {
		fmt.Fprintf(t, "| %s\t| %s\t|", s.scenario, s.gateway)
		for _, f := range columns {
			written := ""
			if value, measured := s.values[f.name]; measured {
				written = f.write(value, s.relative[f.name])
			}
			fmt.Fprintf(t, " %s\t|", written)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // to memory
	return b.String()
}

// conditions states where and how long figures were measured.
func (o options) conditions() string {
	rounds := fmt.Sprintf("medians of %d rounds", o.rounds)
	if o.rounds == 1 {
		rounds = "1 round"
	}
	return fmt.Sprintf("%d processors, %s/%s, %s, %s; %s of %s. In parentheses: how it compares with `caddy`, which is plain `reverse_proxy`.\n\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), time.Now().UTC().Format(time.DateOnly), rounds, o.duration)
}

// report prints the table, and writes the files of a folder: table.md, results.json and
// chart.svg.
func report(folder, conditions string, results []result, picture func([]summary) []byte) error {
	all := summarize(results)
	written := conditions + table(all)
	fmt.Print(written)
	if folder == "" {
		return nil
	}
	encoded, err := encode(results)
	if err != nil {
		return err
	}
	return writeFiles(folder, map[string][]byte{"table.md": []byte(written), "results.json": encoded, "chart.svg": picture(all)})
}

// encode returns results with one line for each.
func encode(results []result) ([]byte, error) {
	var b bytes.Buffer
	for i, r := range results {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		b.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		b.Write(line)
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

func writeFiles(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
