package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"
)

// visit is one kind of traffic of a soak.
type visit struct {
	scenario scenario
	form     string        // appended to the name of the model
	cut      bool          // whether the stream does not end
	leave    bool          // whether the client leaves at the first byte
	pause    time.Duration // of the client, at each read
}

// visits is the traffic of a soak, each kind as often as the others.
var visits = []visit{
	{scenario: scenario{client: chat, provider: chat, size: small}},
	{scenario: scenario{client: messages, provider: chat, size: large}},
	{scenario: scenario{client: messages, provider: messages, size: small, events: 100}},
	{scenario: scenario{client: messages, provider: chat, size: small, events: 100}},
	{scenario: scenario{client: messages, provider: chat, size: small, events: 100, pace: 50 * time.Millisecond}, leave: true},
	{scenario: scenario{client: messages, provider: messages, size: small, events: 100}, form: "/cut", cut: true},
	{scenario: scenario{client: messages, provider: chat, size: small, events: 100}, form: "/cut", cut: true},
	{scenario: scenario{client: messages, provider: messages, size: small, events: 1000}, pause: time.Millisecond},
}

// soakSetting makes a gateway that is at rest soon after its last request. Over HTTP/2, no
// request is lost in a reload.
var soakSetting = setting{clientTLS: true, keepAlive: "100ms"}

const (
	soakClients = 16
	soakCycles  = 12               // at least
	soakCycle   = 10 * time.Second // at most
	soakRest    = 300 * time.Millisecond
)

// resource is what a soak watches: how much it may grow, as a share and beyond it.
type resource struct {
	title string
	read  func(resources) float64
	share float64
	more  float64
}

var watched = []resource{
	{"anonymous memory, MB", func(r resources) float64 { return r.anonymous / 1e6 }, 0.10, 8},
	{"resident memory, MB", func(r resources) float64 { return r.resident / 1e6 }, 0.10, 8},
	{"heap after a collection, MB", func(r resources) float64 { return r.heap / 1e6 }, 0.05, 1},
	{"goroutines", func(r resources) float64 { return r.goroutines }, 0.05, 5},
	{"open files", func(r resources) float64 { return r.files }, 0.05, 5},
}

// grown returns the values of the first and the last third of all, without the first
// quarter, in which pools and caches fill. It returns an error if the resource has grown.
func (r resource) grown(all []resources) (early, late float64, err error) {
	var values []float64
	for _, one := range all[len(all)/4:] {
		values = append(values, r.read(one))
	}
	third := len(values) / 3
	late, early = median(values[len(values)-third:]), median(values[:third])
	if late > early*(1+r.share)+r.more {
		err = fmt.Errorf("%s: from %.1f to %.1f", r.title, early, late)
	}
	return early, late, err
}

// soakAndReport loads a gateway in cycles, with a reload in each, and reads its resources at
// rest between them. It returns an error if one of them grows.
func (b bench) soakAndReport(ctx context.Context) error {
	full := setups[len(setups)-1:]
	stage, err := newStage(ctx, b.folder, full, b.servers, soakSetting)
	if err != nil {
		return err
	}
	defer stage.stop()
	p := stage.gateways[0]
	cycle := min(soakCycle, b.soak/soakCycles)
	var all []resources
	var asked, failed int
	for start := time.Now(); len(all) < soakCycles || time.Since(start) < b.soak; {
		a, f, err := soak(ctx, p, cycle, len(all))
		if err != nil {
			return err
		}
		asked, failed = asked+a, failed+f
		now, err := p.atRest(ctx)
		if err != nil {
			return err
		}
		all = append(all, now)
		fmt.Fprintf(os.Stderr, "%8s  %7d requests  %5.1f MB anonymous  %5.1f MB resident  %4.1f MB heap  %3.0f goroutines  %3.0f open files\n",
			time.Since(start).Round(time.Second), asked, now.anonymous/1e6, now.resident/1e6, now.heap/1e6, now.goroutines, now.files)
	}
	return errors.Join(soakReport(b.folder, all, cycle, asked), tooMany(asked, failed))
}

// tooMany returns an error if more than one of a thousand requests failed that nobody cut.
func tooMany(asked, failed int) error {
	if failed > asked/1000 {
		return fmt.Errorf("%d of %d requests failed", failed, asked)
	}
	return nil
}

// soakReport prints what has become of each resource, and writes table.md and chart.svg.
func soakReport(folder string, all []resources, cycle time.Duration, asked int) error {
	var written strings.Builder
	fmt.Fprintf(&written, "%d requests, %d reloads\n\n| resource | early | late |\n|---|--:|--:|\n", asked, len(all))
	var panels []panel
	var failures []error
	for _, r := range watched {
		early, late, err := r.grown(all)
		failures = append(failures, err)
		fmt.Fprintf(&written, "| %s | %.1f | %.1f |\n", r.title, early, late)
		c := curve{color: colors[len(colors)-1]}
		for i, one := range all {
			c.points = append(c.points, point{(cycle * time.Duration(i)).Seconds(), r.read(one)})
		}
		panels = append(panels, panel{title: r.title + " over seconds", curves: []curve{c}})
	}
	fmt.Print(written.String())
	if folder != "" {
		chart := plot("A gateway between cycles of load, each with a reload.", panels)
		failures = append(failures, writeFiles(folder, map[string][]byte{"table.md": []byte(written.String()), "chart.svg": chart}))
	}
	return errors.Join(failures...)
}

// soak sends traffic of all kinds for a time, and changes the configuration in the middle.
// It returns the numbers of requests, and of those that failed.
func soak(ctx context.Context, p *process, d time.Duration, cycle int) (asked, failed int, err error) {
	l, err := newLoad(p, scenario{clients: soakClients, setting: soakSetting})
	if err != nil {
		return 0, 0, err
	}
	defer l.close()
	counts := make([]struct{ asked, failed int }, soakClients)
	start := time.Now()
	reloaded := make(chan error)
	go func() {
		time.Sleep(d / 2)
		reloaded <- p.reload(ctx, cycle)
	}()
	err = l.each(ctx, func(ctx context.Context, i int, c *client) error {
		for counts[i].asked == 0 || time.Since(start) < d && ctx.Err() == nil {
			counts[i].asked++
			if err := visits[rand.N(len(visits))].pay(ctx, p, c.http); err != nil {
				fmt.Fprintln(os.Stderr, "Failed:", err)
				counts[i].failed++
			}
		}
		return nil
	})
	for _, c := range counts {
		asked, failed = asked+c.asked, failed+c.failed
	}
	return asked, failed, errors.Join(err, <-reloaded)
}

// pay sends one request, and checks that its answer is whole if it should be.
func (v visit) pay(ctx context.Context, p *process, client *http.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := v.scenario
	l := load{scenario: s, bodies: [][]byte{s.body(s.model() + v.form)}}
	req, err := l.request(ctx, "https://"+p.site+paths[s.client])
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if v.leave {
		_, err := res.Body.Read(make([]byte, 1))
		return err
	}
	answer, err := io.ReadAll(slow{res.Body, v.pause})
	if v.cut {
		return nil // whatever it is
	}
	return errors.Join(err, s.check(answer))
}

// slow reads a thousand bytes at once, with a pause before each.
type slow struct {
	source io.Reader
	pause  time.Duration
}

func (s slow) Read(b []byte) (int, error) {
	time.Sleep(s.pause)
	if s.pause > 0 && len(b) > 1000 {
		b = b[:1000]
	}
	return s.source.Read(b)
}

// reload changes the configuration.
func (p *process) reload(ctx context.Context, version int) error {
	config, err := os.ReadFile(p.config)
	if err != nil {
		return err
	}
	config = bytes.Replace(config, []byte("store sqlite\n"), fmt.Appendf(nil, "store sqlite\nmax_body %dMiB\n", 30+version%2), 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.admin+"/load", bytes.NewReader(config))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "text/caddyfile")
	_, err = answerOf(req)
	return err
}

// atRest returns the resources of a process once it has done what its last requests left,
// and collected its garbage.
func (p *process) atRest(ctx context.Context) (resources, error) {
	last := resources{}
	for try := 0; ; try++ {
		time.Sleep(soakRest)
		if _, err := p.ask(ctx, "/debug/pprof/heap?gc=1"); err != nil {
			return last, err
		}
		now, err := p.resources(ctx)
		if err != nil || try == 10 || now.goroutines == last.goroutines && now.files == last.files {
			return now, err
		}
		last = now
	}
}
