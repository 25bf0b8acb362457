package main

import (
	"context"
	"time"
)

// hold opens one paced stream for each client, all within a time, and measures the gateway
// until the last of them ends. The gateway should be new, and warm: its memory of before is
// not that of a stream.
func (l *load) hold(ctx context.Context, p *process, within time.Duration) (measurement, error) {
	before, err := p.resources(ctx)
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	most := make(chan float64)
	go func() { most <- p.mostMemory(watching) }()
	start := time.Now()
	err = l.each(ctx, func(ctx context.Context, i int, c *client) error {
		begin := start.Add(within * time.Duration(i) / time.Duration(len(l.clients)))
		time.Sleep(time.Until(begin))
		return c.send(ctx, begin)
	})
	stop()
	held := <-most
	if err != nil {
		return nil, err
	}
	after, err := p.resources(ctx)
	if err != nil {
		return nil, err
	}
	peak := max(held, after.memory)
	m := l.figures(before, after)
	m[memory], m[streamKB] = peak/1e6, (peak-before.memory)/1e3/m[requests]
	return m, nil
}

// mostMemory returns the most resident memory of a process until the context ends.
func (p *process) mostMemory(ctx context.Context) float64 {
	most := 0.0
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-tick.C:
			if now, err := p.resources(ctx); err == nil { // an error comes again at the end
				most = max(most, now.memory)
			}
		}
	}
}
