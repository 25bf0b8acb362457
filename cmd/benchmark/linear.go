package main

import (
	"fmt"
	"slices"
)

// series is scenarios that differ in one number.
type series struct {
	title   string
	numbers []int
	build   func(n int) scenario
}

// growth is the series of -linear. The time for a request should grow with its size and
// with the events of its answer, and with nothing else.
var growth = []series{
	{"bytes of a request", []int{1e3, 1e4, 1e5, 1e6, 8e6}, func(n int) scenario {
		return scenario{client: messages, provider: messages, size: sized(n), clients: 4}
	}},
	{"bytes of a translated request", []int{1e3, 1e4, 1e5, 1e6, 8e6}, func(n int) scenario {
		return scenario{client: messages, provider: chat, size: sized(n), clients: 4}
	}},
	{"events of a stream", []int{10, 100, 1000, 10_000}, func(n int) scenario {
		return scenario{client: messages, provider: messages, size: small, events: n, clients: 8}
	}},
	{"events of a translated stream", []int{10, 100, 1000, 10_000}, func(n int) scenario {
		return scenario{client: messages, provider: chat, size: small, events: n, clients: 8}
	}},
	{"keys of the configuration", []int{1, 10, 100, 1000, 10_000}, func(n int) scenario {
		return scenario{client: chat, provider: chat, size: small, clients: 32, setting: setting{keys: n}}
	}},
	{"models of the configuration", []int{1, 10, 100, 1000}, func(n int) scenario {
		return scenario{client: chat, provider: chat, size: small, clients: 32, setting: setting{models: n}}
	}},
}

// sized returns the size of a conversation of about n bytes.
func sized(n int) size { return size{turns: max(1, n/1000), bytes: 900} }

// linear returns the scenarios of all series.
func linear() []scenario {
	var all []scenario
	for _, g := range growth {
		for _, n := range g.numbers {
			s := g.build(n)
			s.name = g.scenario(n)
			all = append(all, s)
		}
	}
	return all
}

func (g series) scenario(n int) string { return fmt.Sprintf("%s: %d", g.title, n) }

// curves returns a chart of the processor times of the series.
func curves(all []summary) []byte {
	var panels []panel
	for _, g := range growth {
		p := panel{title: "µs over " + g.title, log: true}
		for _, s := range setups {
			c := curve{name: s.name, color: colorOf(s.name)}
			for _, n := range g.numbers {
				i := slices.IndexFunc(all, func(m summary) bool { return m.gateway == s.name && m.scenario == g.scenario(n) })
				if i >= 0 {
					c.points = append(c.points, point{float64(n), all[i].values[cpu]})
				}
			}
			if len(c.points) > 0 {
				p.curves = append(p.curves, c)
			}
		}
		if len(p.curves) > 0 {
			panels = append(panels, p)
		}
	}
	return plot("Processor time of a request, in microseconds. Both axes are logarithmic.", panels)
}
