// Package doctor tests the models of a running gateway as its clients use them. It asks
// each model for a text, a stream, a tool call and so on, and each server of the Model Context
// Protocol for a session and its tools. It reports which probes
// succeed, and which line of the configuration fixes a failure.
//
// It promises few and small requests: at most MostRequests for a model, of about 100
// tokens each except for images, with answers of at most 64 tokens. It refuses to change
// anything, to follow redirects, and to print the key.
package doctor

import (
	"context"
	"slices"
)

// Gateway is the gateway to examine.
type Gateway struct {
	URL string // URL of the site, without a path
	Key string // key of a client
}

// Result is the result of a probe.
type Result struct {
	Model  string `json:"model"`
	Format string `json:"format"` // format of the client
	Probe  string `json:"probe"`
	State  State  `json:"state"`

	// Found is what a probe of a server has found: the version of the protocol, or the number of tools. It is "" for
	// other probes.
	Found string `json:"found,omitempty"`

	// Reason explains in one sentence why the state is not Works.
	Reason string `json:"reason,omitempty"`

	// Advice is a line for the block of the provider or of the target that fixes the
	// failure, "" if none is known.
	Advice string `json:"advice,omitempty"`

	Usage
}

// Usage is the number of tokens that a probe used.
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
	Unsupported State = "unsupported" // the provider or the gateway does not have the feature
	Blocked     State = "blocked"     // a guard of the gateway forbids the probe
	Broken      State = "broken"
)

// MostRequests is the largest number of requests that Examine sends. In the messages, gemini and
// responses formats, there are nine probes, and the probe "tools" sends two requests. In the
// chat format, there is one probe less, and the first probe may be repeated with another
// name of max_tokens, as in the completions format, which has four probes. A server gets at most four.
const MostRequests = 3*(9+1) + (8 + 1 + 1) + (4 + 1)

// Examine runs the probes of a model as a client of each format, and calls report with each
// result. If a model returns no text in a format, Examine skips the other probes in this
// format. It skips formats in which the gateway does not serve the model.
func Examine(ctx context.Context, g Gateway, m Model, report func(Result)) {
	if m.IsServer() {
		examineServer(ctx, g, m.Name, report)
		return
	}
	for _, f := range formats {
		if len(m.Lanes) > 0 && m.Lanes[f.name] == "" {
			continue
		}
		e := &exam{ctx: ctx, gateway: g, format: f, model: m.Name, bytes: m.Lanes[f.name] == "bytes"}
		for _, p := range probes {
			if !f.has(p.name) {
				continue
			}
			r := e.run(p)
			report(r)
			if p.essential && (r.State == Broken || r.State == Blocked || f.optional && r.State == Unsupported) {
				break
			}
		}
	}
}

// Formats returns the names of the formats in which Examine tests a model.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// Probes returns the names of all probes of models, in their order.
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
