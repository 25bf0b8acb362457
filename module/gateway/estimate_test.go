package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

func TestTokensAreEstimatedOnlyWhereNobodyCounts(t *testing.T) {
	with, without := &provider{estimates: true}, &provider{}
	for _, test := range []struct {
		name      string
		providers []*provider
		told      *exchange.Attempt
		want      bool
	}{
		{"nobody could be asked", []*provider{with}, nil, true},
		{"one of two allows it", []*provider{without, with}, nil, true},
		{"switched off", []*provider{without}, nil, false},
		{"the provider lacks the endpoint", []*provider{with}, &exchange.Attempt{Status: 404}, true},
		{"the provider failed", []*provider{with}, &exchange.Attempt{Status: 500}, false},
		{"the provider was not reached", []*provider{with}, &exchange.Attempt{}, false},
	} {
		m := new(model)
		for _, p := range test.providers {
			m.targets = append(m.targets, target{provider: p})
		}
		assert.Equal(t, test.want, m.estimates(test.told), test.name)
	}
}
