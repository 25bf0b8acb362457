package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// model is what a name leads to: targets in the order in which they are tried.
type model struct {
	pattern  aigateway.Pattern
	targets  []target
	fallback fallback
	attempts int
	formats  json.RawMessage // what clients can expect of it, by their formats
}

// leadsTo reports whether the name leads to the model of p with the same name.
func (m *model) leadsTo(p *provider, name string) bool {
	for _, t := range m.targets {
		if t.provider == p && t.upstreamModel(name) == name {
			return true
		}
	}
	return false
}

func newModel(config *Model, lookup func(string) (*provider, error)) (*model, error) {
	pattern, err := aigateway.ParsePattern(config.Name)
	if err != nil {
		return nil, err
	}
	m := &model{pattern: pattern, attempts: config.Attempts}
	if m.fallback, err = parseFallback(config.FallbackOn); err != nil {
		return nil, err
	}
	for _, t := range config.Targets {
		if err := m.addTarget(t, config.Traits, lookup); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// addTarget adds a target with the traits of its provider, those of the model and its
// own, of which later ones take precedence.
func (m *model) addTarget(t Target, model map[string]string, lookup func(string) (*provider, error)) error {
	p, err := lookup(t.Provider)
	if err != nil {
		return err
	}
	for _, earlier := range m.targets {
		if earlier.provider == p && earlier.model == t.Model {
			return fmt.Errorf("target '%s' stands there twice", t.Provider)
		}
	}
	target, err := p.target(t.Model, model, t.Traits)
	if err != nil {
		return err
	}
	m.targets = append(m.targets, target)
	return nil
}

// check refuses a model without targets or attempts, and sets the default of attempts.
func (m *model) check() error {
	switch {
	case len(m.targets) == 0:
		return errors.New("needs at least one target")
	case m.attempts < 0:
		return errors.New("attempts must be at least 1")
	case m.attempts == 0:
		m.attempts = len(m.targets)
	}
	return nil
}

// fallback is the set of failures after which the next target is tried.
type fallback struct {
	statuses    map[int]bool
	classes     [6]bool // classes[5]: every 5xx
	timeout     bool
	unreachable bool
}

// defaultFallback leaves out the statuses of faults in the request: the next provider
// would refuse it as well.
var defaultFallback = []string{"401", "402", "403", "404", "408", "429", "5xx", "timeout", "unreachable"}

func parseFallback(words []string) (fallback, error) {
	if words == nil {
		words = defaultFallback
	}
	f := fallback{statuses: make(map[int]bool)}
	for _, word := range words {
		if err := f.add(word); err != nil {
			return f, err
		}
	}
	return f, nil
}

// CheckFallbackOn returns an error unless word is a valid element of
// Model.FallbackOn.
func CheckFallbackOn(word string) error {
	_, err := parseFallback([]string{word})
	return err
}

func (f *fallback) add(word string) error {
	class, isClass := strings.CutSuffix(word, "xx")
	n, err := strconv.Atoi(class)
	switch {
	case word == "timeout":
		f.timeout = true
	case word == "unreachable":
		f.unreachable = true
	case isClass && (class == "4" || class == "5"):
		f.classes[n] = true
	case err == nil && len(word) == len("429") && n >= 400 && n <= 599:
		f.statuses[n] = true
	default:
		return fmt.Errorf("fallback_on: '%s' is not a status (429), a class (4xx, 5xx), timeout or unreachable", word)
	}
	return nil
}

// after reports whether the next target is to be tried after a failed attempt.
func (f *fallback) after(a *exchange.Attempt, result *exchange.Result) bool {
	status := result.Status
	switch {
	case result.Fault.Kind == fault.Timeout && status < 400:
		return f.timeout
	case status == 0:
		return f.unreachable
	case status < 400, status > 599: // what is no error status counts as what it should have been
		status = a.Format.Errors.Status(result.Fault)
	}
	return f.statuses[status] || f.classes[status/100%6]
}
