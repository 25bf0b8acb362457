package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Mirror is where a share of the requests of a model is sent as well.
type Mirror struct {
	*Model         // with one target
	Share  float64 // percentage, above 0
}

// Takes reports whether the mirror gets a copy of a request. It decides at random, for each request.
func (m *Mirror) Takes() bool { return rand.Float64()*100 < m.Share }

// String returns the mirror as in the Caddyfile: "openai/gpt-5 5%".
func (m *Mirror) String() string {
	t := &m.Targets[0]
	return (&MirrorConfig{Provider: t.Provider.Name, Model: t.Model, Share: m.Share}).String()
}

// newMirror returns the mirror of a model, nil if it has none. It has the traits of the model, and
// none of its prices: those are of what the clients of the model pay for.
func newMirror(m *Model, config *ModelConfig, named lookups) (*Mirror, error) {
	c := config.Mirror
	if c == nil {
		return nil, nil
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	copied, err := newModel(&ModelConfig{Name: config.Name, Targets: []TargetConfig{{Provider: c.Provider, Model: c.Model}}, Traits: config.Traits}, named)
	if err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	if slices.ContainsFunc(m.Targets, func(t Target) bool { return t.IsSame(&copied.Targets[0]) }) {
		return nil, fmt.Errorf("mirror '%s' is a target of the model, which gets the requests already", c.Provider)
	}
	return &Mirror{copied, cmp.Or(c.Share, 100)}, nil
}

var errMirrorShare = errors.New("the share of a mirror must be above 0 and at most 100 percent")

// Check returns an error for a share out of its bounds.
func (c *MirrorConfig) Check() error {
	if c.Share < 0 || c.Share > 100 {
		return errMirrorShare
	}
	return nil
}
