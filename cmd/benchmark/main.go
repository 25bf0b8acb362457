// Command benchmark measures what the gateway costs beside plain reverse_proxy of Caddy.
//
//	go run ./cmd/benchmark
//
// starts a provider, plain reverse_proxy as the baseline, and the gateway in three
// configurations, all as processes of this program on loopback. They take turns in each
// round, so that a change of the machine's speed meets all of them. Every answer is
// checked. The program prints a table; -out writes it to a folder, with the results of all
// rounds and a chart.
//
// The figure to trust is the processor time per request: times of requests contain the
// work of the clients and of the provider, which share the processors. Behind each figure
// is how it compares with the baseline, in parentheses: the median over all rounds of its
// ratio, or for times of its difference.
//
// The program has three other modes. -linear measures with growing requests, streams and
// configurations, -soak watches the resources of a gateway under load with reloads, and
// -guard fails if the gateway is slower than it was.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
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
		exitOn(serveProvider(os.Args[2], os.Args[3], certificate{file: os.Args[4], key: os.Args[5]}))
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
	rounds            int
	duration          time.Duration // of the requests of one measurement
	soak              time.Duration // of a soak; 0 for none
	linear, guard     bool
	gateways          []setup
	scenarios         []scenario
	folder, profile   string // folders; empty for none
	redis, postgresql string
}

func parse(args []string) (options, error) {
	var o options
	var gateways, names string
	flags := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "rounds of all scenarios; two of those with held streams")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "time of one measurement")
	flags.StringVar(&gateways, "gateways", "", "names of the gateways, separated by commas; default: all")
	flags.StringVar(&names, "scenarios", "", "beginnings of names of scenarios, separated by semicolons; default: all")
	flags.StringVar(&o.folder, "out", "", "folder for the table, the results of all rounds and a chart")
	flags.StringVar(&o.profile, "profile", "", "folder for profiles of processor time and allocations of each gateway and scenario")
	flags.BoolVar(&o.linear, "linear", false, "measure with growing requests, streams and configurations")
	flags.BoolVar(&o.guard, "guard", false, "fail if the gateway is slower than it was")
	flags.DurationVar(&o.soak, "soak", 0, "watch the resources of a gateway under load for this time, and fail if they grow")
	flags.StringVar(&o.redis, "redis", "", "address of a Redis server; default: one of its own, if it is installed")
	flags.StringVar(&o.postgresql, "postgres", "", "data source name of a PostgreSQL database, which gets the tables of the gateway; default: none")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	all := scenarios
	switch {
	case o.linear:
		all = linear()
	case o.guard:
		all = guarded()
	}
	o.gateways = selected(setups, gateways, ",", func(s setup) string { return s.name })
	o.scenarios = selected(all, names, ";", func(s scenario) string { return s.name })
	switch {
	case len(o.gateways) == 0:
		return o, fmt.Errorf("-gateways: no gateway has one of the names %q", gateways)
	case len(o.scenarios) == 0:
		return o, fmt.Errorf("-scenarios: no name of a scenario begins with one of %q", names)
	case o.rounds < 1 || o.duration <= 0 || o.soak < 0:
		return o, errors.New("-rounds, -duration and -soak must be positive")
	}
	if o.gateways[0].name != baseline {
		o.gateways = append([]setup{setups[0]}, o.gateways...)
	}
	return o, nil
}

// selected returns the values whose name begins with one of the prefixes, all if there are
// none.
func selected[T any](all []T, prefixes, separator string, name func(T) string) []T {
	if prefixes == "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool {
		return !slices.ContainsFunc(strings.Split(prefixes, separator), func(p string) bool { return strings.HasPrefix(name(v), p) })
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
	servers, err := newServers(ctx, o.redis, o.postgresql)
	if err != nil {
		return err
	}
	defer servers.stop()

	b := bench{options: o, folder: folder, servers: servers}
	switch {
	case o.soak > 0:
		return b.soakAndReport(ctx)
	case o.guard:
		return b.keepGuard(ctx)
	}
	results, err := b.measureAll(ctx, o.scenarios)
	if err != nil {
		return err
	}
	picture := bars
	if o.linear {
		picture = curves
	}
	return report(o.folder, o.conditions(), results, picture)
}

// bench is one run of the program.
type bench struct {
	options
	folder  string // for files of the processes
	servers servers
}

// measureAll measures scenarios with every gateway in every round, those of one setting
// together. It leaves out scenarios whose server does not run, and states so.
func (b bench) measureAll(ctx context.Context, all []scenario) ([]result, error) {
	var results []result
	var measured []setting
	for _, s := range all {
		if slices.Contains(measured, s.setting) {
			continue
		}
		measured = append(measured, s.setting)
		if !b.servers.run(s.setting.server) {
			fmt.Fprintf(os.Stderr, "without %s: %s\n", s.setting.server, s.name)
			continue
		}
		same := slices.DeleteFunc(slices.Clone(all), func(other scenario) bool { return other.setting != s.setting })
		more, err := b.measureSetting(ctx, s.setting, same)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	return results, nil
}

// heldRounds is the number of rounds of scenarios with held streams: memory varies less than
// time, and they take longer.
const heldRounds = 2

// measureSetting measures the scenarios of one setting. Each round begins with another
// gateway, so that none is always the first.
func (b bench) measureSetting(ctx context.Context, needs setting, all []scenario) ([]result, error) {
	stage, err := newStage(ctx, b.folder, b.gateways, b.servers, needs)
	if err != nil {
		return nil, err
	}
	defer stage.stop()
	var results []result
	for round := range b.rounds {
		for _, s := range all {
			if s.setting.held && round >= heldRounds {
				continue
			}
			for i := range stage.gateways {
				p := stage.gateways[(i+round)%len(stage.gateways)]
				m, err := b.measure(ctx, p, s)
				if err != nil {
					return nil, fmt.Errorf("%s with %s: %w", s.name, p.name, err)
				}
				results = append(results, result{Round: round, Scenario: s.name, Gateway: p.name, Figures: m})
				fmt.Fprintf(os.Stderr, "round %d  %-38s %-8s %8.1f us\n", round+1, s.name, p.name, m[cpu])
			}
		}
	}
	if b.profile == "" {
		return results, nil
	}
	return results, profileAll(ctx, b.profile, stage, all)
}

// measure measures a scenario, for held streams with a new process.
func (b bench) measure(ctx context.Context, p *process, s scenario) (measurement, error) {
	if s.setting.held {
		if err := p.renew(ctx); err != nil {
			return nil, fmt.Errorf("starting anew: %w", err)
		}
	}
	return measure(ctx, p, s, b.duration)
}
