package main

import (
	"context"
	"time"
)

// hold opens one paced stream for each client, all within a time, and measures the gateway
// until the last of them ends. The gateway should be new, and warm: its memory of before is
// not that of a stream.
func (l *load) hold(ctx context.Context, p *process, patience time.Duration) (measurement, error) {
	first, err := p.resources(ctx)
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	most := make(chan resources)
	go func() { most <- p.mostMemory(watching) }()
	start := time.Now()
	err = l.each(ctx, func(ctx context.Context, i int, c *client) error {
		begin := start.Add(patience * time.Duration(i) / time.Duration(len(l.clients)))
		time.Sleep(time.Until(begin))
		return c.send(ctx, begin)
	})
	stop()
	held := <-most
	if err != nil {
		return nil, err
	}
	last, err := p.resources(ctx)
	if err != nil {
		return nil, err
	}
	peak := held.orMoreMemory(last)
	m := l.figures(first, last)
	m.holds(peak.anonymous, peak.resident)
	m[streamKB] = (peak.resident - first.resident) / 1e3 / m[requests]
	return m, nil
}

// mostMemory returns the most memory of each kind of a process until the context ends.
func (p *process) mostMemory(ctx context.Context) (most resources) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-tick.C:
			if now, err := p.resources(ctx); err == nil { // an error comes again at the end
				most = most.orMoreMemory(now)
			}
		}
	}
}

// orMoreMemory returns r with the memory of another moment where that is more.
func (r resources) orMoreMemory(other resources) resources {
	r.anonymous, r.resident = max(r.anonymous, other.anonymous), max(r.resident, other.resident)
	return r
}
