package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// measurement is what one gateway needed for the requests of one scenario.
type measurement struct {
	Requests    int     `json:"requests"`
	CPU         float64 `json:"cpu_us"`         // microseconds of processor time for a request
	Allocations float64 `json:"allocations"`    // for a request
	Rate        float64 `json:"rate"`           // requests in a second
	P50         float64 `json:"p50_us"`         // microseconds until the end of an answer
	P99         float64 `json:"p99_us"`         // the same
	First       float64 `json:"first_event_us"` // median of the microseconds until the first byte of the body
	Memory      float64 `json:"memory_mb"`      // resident, after the requests
}

// timing is the time of one request.
type timing struct{ first, whole time.Duration }

// measure sends the requests of a scenario for a time, after some that warm up connections
// and pools.
func measure(ctx context.Context, p *process, s scenario, d time.Duration) (m measurement, err error) {
	if !p.translates {
		s = s.relayed()
	}
	c := newClient(p, s)
	defer c.http.CloseIdleConnections()
	if _, err := c.load(ctx, d/8); err != nil {
		return m, err
	}
	before, err := p.resources(ctx)
	if err != nil {
		return m, err
	}
	start := time.Now()
	times, err := c.load(ctx, d)
	elapsed := time.Since(start)
	if err != nil {
		return m, err
	}
	after, err := p.resources(ctx)
	if err != nil {
		return m, err
	}
	n := float64(len(times))
	whole, first := microseconds(times, func(t timing) time.Duration { return t.whole }), microseconds(times, func(t timing) time.Duration { return t.first })
	return measurement{
		Requests: len(times), CPU: (after.seconds - before.seconds) * 1e6 / n, Allocations: (after.allocations - before.allocations) / n,
		Rate: n / elapsed.Seconds(), P50: whole[len(whole)/2], P99: whole[len(whole)*99/100], First: first[len(first)/2], Memory: after.memory / 1e6,
	}, nil
}

// microseconds returns sorted times.
func microseconds(times []timing, of func(timing) time.Duration) []float64 {
	sorted := make([]float64, len(times))
	for i, t := range times {
		sorted[i] = float64(of(t)) / float64(time.Microsecond)
	}
	slices.Sort(sorted)
	return sorted
}

// client sends the requests of a scenario.
type client struct {
	scenario
	http  *http.Client
	url   string
	sends []byte // the body of each request
}

func newClient(p *process, s scenario) *client {
	return &client{
		scenario: s,
		http:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: s.clients, DisableCompression: true}},
		url:      "http://" + p.site + paths[s.client],
		sends:    s.body(),
	}
}

// load sends requests for a time, from all clients at once, and returns the times of all.
// It returns the first error of a client.
func (c *client) load(ctx context.Context, d time.Duration) ([]timing, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var all []timing
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range c.clients {
		wg.Go(func() {
			var times []timing
			for len(times) == 0 || time.Now().Before(end) && ctx.Err() == nil {
				t, err := c.send(ctx)
				if err != nil {
					cancel(err)
					return
				}
				times = append(times, t)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, times...)
		})
	}
	wg.Wait()
	return all, context.Cause(ctx)
}

// send sends one request, and checks that its answer is whole.
func (c *client) send(ctx context.Context) (t timing, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(c.sends))
	if err != nil {
		return t, err
	}
	req.Header.Set("Authorization", "Bearer "+benchKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	start := time.Now()
	res, err := c.http.Do(req)
	if err != nil {
		return t, err
	}
	defer res.Body.Close()
	body := bufio.NewReader(res.Body)
	if _, err = body.Peek(1); err != nil {
		return t, fmt.Errorf("reading answer: %w", err)
	}
	t.first = time.Since(start)
	answer, err := io.ReadAll(body)
	t.whole = time.Since(start)
	if err != nil {
		return t, fmt.Errorf("reading answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return t, fmt.Errorf("status %d: %.200s", res.StatusCode, answer)
	}
	return t, c.check(answer)
}

// lastEvents are the ends of the streams of the formats.
var lastEvents = map[format]string{
	chat:      "data: [DONE]\n\n",
	messages:  "event: message_stop\n",
	responses: "event: response.completed\n",
}

// check returns an error for an answer that is not whole.
func (c *client) check(answer []byte) error {
	pieces := bytes.Count(answer, []byte(`"`+answerPiece+`"`))
	switch {
	case !c.streams && !bytes.Contains(answer, []byte(answerText)):
		return errors.New("the answer lacks its text")
	case c.streams && pieces != answerEvents:
		return fmt.Errorf("the stream has %d of %d texts", pieces, answerEvents)
	case c.streams && !bytes.Contains(answer, []byte(lastEvents[c.client])):
		return errors.New("the stream lacks its last event")
	}
	return nil
}
