package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func TestTokensAreEstimatedOnlyWhereNobodyCounts(t *testing.T) {
	with, without := new(trait.Traits), &trait.Traits{NoTokenCount: true}
	for _, test := range []struct {
		name    string
		targets []*trait.Traits
		failed  *exchange.Conduit
		want    bool
	}{
		{"nobody could be asked", []*trait.Traits{with}, nil, true},
		{"one of two allows it", []*trait.Traits{without, with}, nil, true},
		{"switched off", []*trait.Traits{without}, nil, false},
		{"the provider lacks the endpoint", []*trait.Traits{with}, &exchange.Conduit{Result: exchange.Result{Status: 404}}, true},
		{"the provider failed", []*trait.Traits{with}, &exchange.Conduit{Result: exchange.Result{Status: 500}}, false},
		{"the provider was not reached", []*trait.Traits{with}, new(exchange.Conduit), false},
	} {
		m := new(catalog.Model)
		for _, traits := range test.targets {
			m.Targets = append(m.Targets, catalog.Target{Traits: traits})
		}
		assert.Equal(t, test.want, mayEstimate(m, failover.Verdict{Failed: test.failed}, new(exchange.Exchange)), test.name)
		named := &exchange.Exchange{Request: exchange.Request{View: translate.View{Beyond: translate.Beyond{References: &translate.References{Objects: []translate.ObjectID{{}}}}}}}
		assert.Equal(t, test.want && test.failed != nil, mayEstimate(m, failover.Verdict{Failed: test.failed}, named), "%s, with an object of another client", test.name)
	}
}
