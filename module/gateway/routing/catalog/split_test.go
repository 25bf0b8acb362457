package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASplitThatCannotBeIsRefused(t *testing.T) {
	p := &Provider{Name: "p"}
	named := lookups{provider: func(string) (*Provider, error) { return p, nil }}
	shared := []TargetConfig{{Provider: "p", Model: "a", Weight: 1}, {Provider: "p", Model: "b", Weight: 1}}
	for text, config := range map[string]ModelConfig{
		"split_by must be one of customer, key, session, not 'user'": {Targets: shared, SplitBy: "user"},
		"exclude each other":                {Targets: shared, SplitBy: "key", Order: OrderByCost},
		"needs two successive targets with": {Targets: []TargetConfig{{Provider: "p", Model: "a", Weight: 1}, {Provider: "p", Model: "b"}}, SplitBy: "key"},
	} {
		config.Name = "m"
		_, err := newModel(&config, named)
		assert.ErrorContains(t, err, text)
	}
	_, err := newModel(&ModelConfig{Name: "m", Targets: shared, SplitBy: "key"}, named)
	assert.NoError(t, err)
}
