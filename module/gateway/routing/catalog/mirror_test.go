package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMirrorGetsItsShare(t *testing.T) {
	const requests = 20_000
	copies := 0
	for range requests {
		if (&Mirror{Share: 30}).Takes() {
			copies++
		}
	}
	assert.InDelta(t, 0.3*requests, copies, 0.02*requests)
	assert.True(t, (&Mirror{Share: 100}).Takes())
}

func TestAMirrorThatCannotBeIsRefused(t *testing.T) {
	p := &Provider{Name: "p"}
	m := &Model{Targets: []Target{{Provider: p, Model: "a"}}}
	named := lookups{provider: func(name string) (*Provider, error) {
		if name != "p" {
			return nil, UnknownProvider(name, []string{"p"})
		}
		return p, nil
	}}
	for text, config := range map[string]MirrorConfig{
		"is a target of the model, which gets the requests already": {Provider: "p", Model: "a"},
		"unknown provider 'pp'": {Provider: "pp"},
		"at most 100 percent":   {Provider: "p", Model: "b", Share: 101},
		"must be above 0":       {Provider: "p", Model: "b", Share: -1},
	} {
		_, err := newMirror(m, &ModelConfig{Name: "m", Mirror: &config}, named)
		assert.ErrorContains(t, err, text)
	}
	mirror, err := newMirror(m, &ModelConfig{Name: "m", Mirror: &MirrorConfig{Provider: "p", Model: "b"}}, named)
	require.NoError(t, err)
	assert.Equal(t, 100.0, mirror.Share)
}
