package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// measure sends the requests of a scenario for a time, after some that warm up connections
// and pools. Held streams have their own time.
func measure(ctx context.Context, p *process, s scenario, d time.Duration) (measurement, error) {
	if !p.translates {
		s = s.relayed()
	}
	l, err := newLoad(p, s)
	if err != nil {
		return nil, err
	}
	defer l.close()
	if s.setting.held {
		if err := warmHeld(ctx, p, s, d/8); err != nil {
			return nil, err
		}
		return l.hold(ctx, p, d)
	}
	if err := l.warm(ctx, d/8); err != nil {
		return nil, err
	}
	first, err := p.resources(ctx)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := l.run(ctx, d); err != nil {
		return nil, err
	}
	elapsed := time.Since(start)
	last, err := p.resources(ctx)
	if err != nil {
		return nil, err
	}
	m := l.figures(first, last)
	m[rate] = m[requests] / elapsed.Seconds()
	m.holds(last.anonymous, last.resident)
	return m, nil
}

// load is the clients of a scenario.
type load struct {
	scenario scenario
	clients  []*client
	bodies   [][]byte // by the number of the model
	sent     atomic.Int64
}

// client is one client with its connections, and the times of its requests since the last run.
type client struct {
	load               *load
	http               *http.Client
	url                string
	firsts, ends, lags []time.Duration
}

func newLoad(p *process, s scenario) (*load, error) {
	l := &load{scenario: s, bodies: [][]byte{s.body(s.model())}}
	for i := range s.setting.models {
		l.bodies = append(l.bodies[:i], s.body(modelOf(i)))
	}
	scheme, transport := "http", &http.Transport{DisableCompression: true}
	if s.setting.clientTLS {
		pool, err := p.certificate.pool()
		if err != nil {
			return nil, err
		}
		scheme, transport.TLSClientConfig, transport.ForceAttemptHTTP2 = "https", &tls.Config{RootCAs: pool}, true
	}
	for range s.clients {
		l.clients = append(l.clients, &client{load: l, http: &http.Client{Transport: transport.Clone()}, url: scheme + "://" + p.site + paths[s.client]})
	}
	return l, nil
}

func (l *load) close() {
	for _, c := range l.clients {
		c.http.CloseIdleConnections()
	}
}

// run sends requests for a time, from all clients at once. It returns the first error of a
// client.
func (l *load) run(ctx context.Context, d time.Duration) error {
	start := time.Now()
	return l.each(ctx, func(ctx context.Context, i int, c *client) error {
		c.firsts, c.ends, c.lags = nil, nil, nil
		for n := 0; n == 0 || time.Since(start) < d && ctx.Err() == nil; n++ {
			begin := time.Now()
			if rate := l.scenario.rate; rate > 0 { // a request that begins late has waited
				begin = start.Add(time.Duration(i+n*len(l.clients)) * time.Second / time.Duration(rate))
				time.Sleep(time.Until(begin))
			}
			if err := c.send(ctx, begin); err != nil {
				return err
			}
		}
		return nil
	})
}

// warm sends requests for a time, and at least one of each key.
func (l *load) warm(ctx context.Context, d time.Duration) error {
	for {
		if err := l.run(ctx, d); err != nil || int(l.sent.Load()) >= l.scenario.setting.keys {
			return err
		}
	}
}

// warmHeld sends streams like those of a scenario, but without its pace and by few clients, so
// that the memory of the first streams of a process is not that of the held ones.
func warmHeld(ctx context.Context, p *process, s scenario, d time.Duration) error {
	s.pace, s.clients = 0, min(s.clients, 8)
	l, err := newLoad(p, s)
	if err != nil {
		return err
	}
	defer l.close()
	return l.warm(ctx, d)
}

// each calls a function for all clients at once, and returns the first error.
func (l *load) each(ctx context.Context, do func(ctx context.Context, i int, c *client) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i, c := range l.clients {
		running.Go(func() {
			if err := do(ctx, i, c); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// figures returns the times that the clients measured, and what was used for a request.
func (l *load) figures(first, last resources) measurement {
	m := l.times()
	each := func(read func(resources) float64) float64 { return (read(last) - read(first)) / m[requests] }
	m[cpu] = 1e6 * each(func(r resources) float64 { return r.seconds })
	m[allocations] = each(func(r resources) float64 { return r.allocations })
	if l.scenario.setting.server != "" {
		m[redisCPU] = 1e6 * each(func(r resources) float64 { return r.redis })
		m[postgresCPU] = 1e6 * each(func(r resources) float64 { return r.postgres })
	}
	return m
}

// times returns the figures that clients measure.
func (l *load) times() measurement {
	var firsts, ends, lags [][]time.Duration
	for _, c := range l.clients {
		firsts, ends, lags = append(firsts, c.firsts), append(ends, c.ends), append(lags, c.lags)
	}
	f, e, g := sorted(firsts), sorted(ends), sorted(lags)
	m := measurement{requests: float64(len(e)), first: percentile(f, 50)}
	if len(g) > 0 { // the end of a paced stream is when the provider decides
		m[lag50], m[lag99] = percentile(g, 50), percentile(g, 99)
	} else {
		m[p50], m[p99] = percentile(e, 50), percentile(e, 99)
	}
	return m
}

// request returns the next request, with the next key and model.
func (l *load) request(ctx context.Context, url string) (*http.Request, error) {
	n := int(l.sent.Add(1))
	key := benchKey
	if keys := l.scenario.setting.keys; keys > 0 {
		key = keyOf(n % keys)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(l.bodies[n%len(l.bodies)]))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	return req, nil
}

// send sends one request, and checks that its answer is whole.
func (c *client) send(ctx context.Context, begin time.Time) error {
	s := &c.load.scenario
	req, err := c.load.request(ctx, c.url)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body := bufio.NewReader(res.Body)
	if _, err = body.Peek(1); err != nil {
		return fmt.Errorf("reading answer: %w", err)
	}
	if s.pace == 0 {
		c.firsts = append(c.firsts, time.Since(begin))
	}
	if res.StatusCode != http.StatusOK {
		answer, err := io.ReadAll(io.LimitReader(body, 200))
		return errors.Join(fmt.Errorf("status %d: %s", res.StatusCode, answer), err)
	}
	if s.pace > 0 {
		err = c.follow(body, begin)
	} else {
		var answer []byte
		if answer, err = io.ReadAll(body); err == nil {
			err = s.check(answer)
		}
	}
	c.ends = append(c.ends, time.Since(begin))
	if err != nil {
		return fmt.Errorf("reading answer: %w", err)
	}
	return nil
}

// follow reads a paced stream line by line, notes when each text arrives, and checks that
// the stream is whole. Its first event is the first text: until then, a gateway may hold back
// what precedes it.
func (c *client) follow(body *bufio.Reader, begin time.Time) error {
	s, texts, last := &c.load.scenario, 0, false
	for {
		line, err := body.ReadSlice('\n')
		last = last || bytes.HasPrefix(line, []byte(lastLines[s.client]))
		if written, found := stampOf(line); found {
			if texts == 0 {
				c.firsts = append(c.firsts, time.Since(begin))
			}
			texts++
			c.lags = append(c.lags, time.Since(written))
		}
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
			continue
		case !errors.Is(err, io.EOF):
			return err
		case texts != s.events:
			return fmt.Errorf("the stream has %d of %d texts", texts, s.events)
		case !last:
			return errors.New("the stream lacks its last event")
		}
		return nil
	}
}

// stampOf returns the time at which the provider wrote the text in a line.
func stampOf(line []byte) (time.Time, bool) {
	_, rest, found := bytes.Cut(line, []byte(`"`+stampMark))
	if !found || len(rest) < len(noStamp) || !bytes.HasPrefix(rest[len(noStamp):], []byte(stampEnd+`"`)) {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(string(rest[:len(noStamp)]), 10, 64)
	return time.Unix(0, n), err == nil
}

// lastLines are the beginnings of the last lines of the streams of the formats, or of the
// last but one.
var lastLines = map[format]string{
	chat:      "data: [DONE]\n",
	messages:  "event: message_stop\n",
	responses: "event: response.completed\n",
}

// check returns an error for an answer that is not whole.
func (s scenario) check(answer []byte) error {
	texts := bytes.Count(answer, []byte(`"`+answerPiece+`"`))
	switch {
	case s.events == 0 && !bytes.Contains(answer, []byte(answerText)):
		return errors.New("the answer lacks its text")
	case s.events > 0 && texts != s.events:
		return fmt.Errorf("the stream has %d of %d texts", texts, s.events)
	case s.events > 0 && !bytes.Contains(answer, []byte(lastLines[s.client])):
		return errors.New("the stream lacks its last event")
	}
	return nil
}
