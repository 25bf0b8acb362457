package caddyfile

import (
	"regexp"
	"slices"
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

var modelWords = withTraits(words[*gateway.Model]{
	"to":          {read: readTarget, repeat: true},
	"fallback_on": {read: readFallbackOn, repeat: true},
	"attempts": {read: func(d *cf.Dispenser, m *gateway.Model) (err error) {
		m.Attempts, err = readCount(d)
		return err
	}},
}, func(m *gateway.Model) *map[string]string { return &m.Traits })

var targetWords = withTraits(words[*gateway.Target]{}, func(t *gateway.Target) *map[string]string { return &t.Traits })

// readModel leads a model name, or a pattern in which "*" matches anything, to
// targets, which are tried in order. Syntax:
//
//	model <pattern> {
//		to <provider>[/<the provider's model name>] {
//			<name of a trait> <value...>
//		}
//		<name of a trait> <value...>
//		fallback_on <status | 4xx | 5xx | timeout | unreachable...>
//		attempts <number>
//	}
//
// Each target has a line of its own. A trait counts for this target, or for all
// targets of the model, over what their providers have.
func readModel(d *cf.Dispenser, c *config) error {
	line := *d // errors about the block as a whole name its first line
	name, err := readOne(d)
	if err != nil {
		return err
	}
	if _, err := aigateway.ParsePattern(name); err != nil {
		return d.WrapErr(err)
	}
	if slices.ContainsFunc(c.Models, func(m *gateway.Model) bool { return m.Name == name }) {
		return d.Errf("model '%s' is defined twice", name)
	}
	m := &gateway.Model{Name: name}
	if err := modelWords.readBlock(d, "model", m, nil); err != nil {
		return err
	}
	if len(m.Targets) == 0 {
		return line.Errf("model '%s' needs at least one target: to <provider>", name)
	}
	c.Models = append(c.Models, m)
	return nil
}

func readTarget(d *cf.Dispenser, m *gateway.Model) error {
	text, err := readOne(d)
	if err != nil {
		return err
	}
	provider, model, named := strings.Cut(text, "/")
	if err := checkProviderName(d, provider); err != nil {
		return err
	}
	if named {
		pattern, err := aigateway.ParsePattern(model)
		if err != nil || !pattern.Exact() {
			return d.Errf("a target is <provider> or <provider>/<model>, where the model is a name and no pattern, not '%s'", text)
		}
	}
	same := func(t gateway.Target) bool { return t.Provider == provider && t.Model == model }
	if slices.ContainsFunc(m.Targets, same) {
		return d.Errf("target '%s' is given twice", text)
	}
	target := gateway.Target{Provider: provider, Model: model}
	err = targetWords.readBlock(d, "to", &target, nil)
	m.Targets = append(m.Targets, target)
	return err
}

var failure = regexp.MustCompile(`^([45][0-9][0-9]|4xx|5xx|timeout|unreachable)$`)

func readFallbackOn(d *cf.Dispenser, m *gateway.Model) (err error) {
	if m.FallbackOn, err = readList(d, m.FallbackOn); err != nil {
		return err
	}
	for _, on := range m.FallbackOn {
		if !failure.MatchString(on) {
			return d.Errf("fallback_on takes statuses (429), classes (4xx, 5xx), timeout and unreachable, not '%s'", on)
		}
	}
	return nil
}
