// Package doctor tests the models of a running gateway as its clients use them: it asks
// each model for a text, a stream, a call of a tool and so on, and reports what works, and
// which word of the configuration would mend what does not.
//
// It promises few and small requests: at most MostRequests for a model, of about 100 tokens
// each, images aside, with answers of at most 64 tokens. It refuses to change anything,
// to follow redirects, and to print the key.
package doctor

import (
	"context"
	"slices"
)

// Gateway is the gateway to examine.
type Gateway struct {
	URL string // of the site, without a path
	Key string // of a client
}

// Result is the result of a probe.
type Result struct {
	Model  string `json:"model"`
	Format string `json:"format"` // of the client
	Probe  string `json:"probe"`
	State  State  `json:"state"`

	// Reason is why the state is not Works, in one sentence.
	Reason string `json:"reason,omitempty"`

	// Advice is a line for the block of the provider, or of its target, that mends the
	// failure; "" if none is known.
	Advice string `json:"advice,omitempty"`

	Usage
}

// Usage is what the answers to a probe cost, in tokens.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

func (u *Usage) add(more Usage) {
	u.Input += more.Input
	u.Output += more.Output
}

// State is how a probe ended.
type State string

// The states.
const (
	Works       State = "ok"
	Unsupported State = "unsupported" // refused by name: the provider or the gateway has no such thing
	Broken      State = "broken"
)

// MostRequests is how many requests Examine sends at most: for messages, nine probes with
// a second request for tools; for chat, one probe less, and a first one that may have to be
// repeated with another name of max_tokens.
const MostRequests = (9 + 1) + (8 + 1 + 1)

// Examine runs all probes of a model in the formats of clients, and hands each result to
// report. If a model gives no text, its other probes are left out.
func Examine(ctx context.Context, g Gateway, m Model, report func(Result)) {
	for _, f := range []format{messages, chat} {
		e := &exam{ctx: ctx, gateway: g, format: f, model: m.Name, bytes: m.Lanes[f.name] == "bytes"}
		for _, p := range probes {
			if p.name == "count" && f.countPath == "" {
				continue
			}
			r := e.take(p)
			report(r)
			if p.essential && r.State == Broken {
				break
			}
		}
	}
}

// Probes returns the names of all probes, in their order.
func Probes() []string {
	names := make([]string, len(probes))
	for i, p := range probes {
		names[i] = p.name
	}
	return names
}

// Healthy reports whether no result is Broken.
func Healthy(results []Result) bool {
	return !slices.ContainsFunc(results, func(r Result) bool { return r.State == Broken })
}
