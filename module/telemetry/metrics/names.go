package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Names are the names of a configuration that metrics have as labels.
type Names struct{ Providers, Models, Limits, Guards []string }

// Hold keeps the series of names until release is called. When the last configuration with a
// name releases it, the series of the name are deleted. During a reload, the new
// configuration holds its names before the old one releases its own.
func Hold(n Names) (release func()) {
	names := n.labels()
	held.mu.Lock()
	defer held.mu.Unlock()
	for _, name := range names {
		held.uses[name]++
	}
	return sync.OnceFunc(func() { held.release(names) })
}

// label is a label with one of its values.
type label struct{ name, value string }

func (n Names) labels() (all []label) {
	for _, p := range n.Providers {
		all = append(all, label{"provider", p})
	}
	for _, m := range n.Models {
		all = append(all, label{"model", m})
	}
	for _, l := range n.Limits {
		all = append(all, label{"limit", l})
	}
	for _, g := range n.Guards {
		all = append(all, label{"guard", g})
	}
	return all
}

// held counts, for each name, the configurations that hold it.
var held = names{uses: make(map[label]int)}

type names struct {
	mu   sync.Mutex // guards uses
	uses map[label]int
}

func (n *names) release(all []label) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range all {
		if n.uses[l]--; n.uses[l] == 0 {
			delete(n.uses, l)
			l.forget()
		}
	}
}

// forget deletes the series with the label.
func (l label) forget() {
	for _, c := range collectors {
		if vector, ok := c.(interface{ DeletePartialMatch(prometheus.Labels) int }); ok {
			vector.DeletePartialMatch(prometheus.Labels{l.name: l.value})
		}
	}
	if l.name == "provider" {
		fallbacks.DeletePartialMatch(prometheus.Labels{"from": l.value})
	}
}
