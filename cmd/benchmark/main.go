// Command benchmark measures what the gateway costs beside plain reverse_proxy of Caddy.
//
//	go run ./cmd/benchmark
//
// starts a provider, plain reverse_proxy as the baseline, and the gateway in three
// configurations, all as processes of this program on loopback. They take turns in each
// round, so that a change of the machine's speed meets all of them. Every answer is
// checked. The program prints a table; -json and -svg write the results and a chart.
//
// The figure to trust is the processor time per request: times of requests contain the
// work of the clients and of the provider, which share the processors. A ratio is the
// median of the ratios of all rounds.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module"
)

// The roles of the processes that this program starts of itself: the first argument.
const (
	roleCaddy    = "caddy"
	roleProvider = "provider"
)

func main() {
	if !playRole() {
		exitOn(run(os.Args[1:]))
	}
}

// playRole is the process of a role. It returns false at once if this process has none.
func playRole() bool {
	if len(os.Args) < 2 {
		return false
	}
	switch os.Args[1] {
	case roleCaddy:
		os.Args = os.Args[1:]
		caddycmd.Main()
	case roleProvider:
		exitOn(serveProvider(os.Args[2]))
	default:
		return false
	}
	return true
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// options are what the command line sets.
type options struct {
	rounds    int
	duration  time.Duration // of the requests of one measurement
	gateways  []setup
	scenarios []scenario
	json, svg string // files; empty for none
	profiles  string // folder; empty for none
}

func parse(args []string) (options, error) {
	var o options
	var gateways, names string
	flags := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "rounds of all scenarios")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "time of one measurement")
	flags.StringVar(&gateways, "gateways", "", "names of the gateways, separated by commas; default: all")
	flags.StringVar(&names, "scenarios", "", "beginnings of names of scenarios, separated by commas; default: all")
	flags.StringVar(&o.json, "json", "", "file for the results of all rounds")
	flags.StringVar(&o.svg, "svg", "", "file for a chart of the ratios")
	flags.StringVar(&o.profiles, "profiles", "", "folder for a processor profile of each gateway and scenario")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.gateways = selected(setups, gateways, func(s setup) string { return s.name })
	o.scenarios = selected(scenarios, names, func(s scenario) string { return s.name })
	switch {
	case len(o.gateways) == 0:
		return o, fmt.Errorf("-gateways: no gateway has one of the names %q", gateways)
	case len(o.scenarios) == 0:
		return o, fmt.Errorf("-scenarios: no name of a scenario begins with one of %q", names)
	case o.rounds < 1 || o.duration <= 0:
		return o, fmt.Errorf("-rounds and -duration must be positive")
	}
	return o, nil
}

// selected returns the values whose name begins with one of the comma-separated prefixes,
// all if there are none.
func selected[T any](all []T, prefixes string, name func(T) string) []T {
	if prefixes == "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool {
		return !slices.ContainsFunc(strings.Split(prefixes, ","), func(p string) bool { return strings.HasPrefix(name(v), p) })
	})
}

func run(args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := os.MkdirTemp("", "benchmark")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(folder)) }()

	stage, err := newStage(ctx, folder, o.gateways)
	if err != nil {
		return err
	}
	defer stage.stop()
	results, err := measureAll(ctx, o, stage)
	if err != nil {
		return err
	}
	table(os.Stdout, summarize(results))
	if o.json != "" {
		if err := writeJSON(o.json, results); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
	}
	if o.svg != "" {
		if err := os.WriteFile(filepath.Clean(o.svg), chart(summarize(results)), 0o644); err != nil {
			return fmt.Errorf("writing chart: %w", err)
		}
	}
	return nil
}

// measureAll measures every scenario with every gateway in every round. Each round begins
// with another gateway, so that none is always the first.
func measureAll(ctx context.Context, o options, s *stage) ([]result, error) {
	var results []result
	for round := range o.rounds {
		for _, sc := range o.scenarios {
			for i := range s.gateways {
				g := s.gateways[(i+round)%len(s.gateways)]
				m, err := measure(ctx, g, sc, o.duration)
				if err != nil {
					return nil, fmt.Errorf("%s with %s: %w", sc.name, g.name, err)
				}
				results = append(results, result{Round: round, Scenario: sc.name, Gateway: g.name, measurement: m})
				fmt.Fprintf(os.Stderr, "round %d  %-28s %-8s %7.0f requests/s  %6.1f us\n", round+1, sc.name, g.name, m.Rate, m.CPU)
			}
		}
	}
	if o.profiles == "" {
		return results, nil
	}
	return results, profileAll(ctx, o, s)
}
