package catalog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// A day that a provider announced behind the date of the tables was noticed when requests failed.
func TestTheEndInTheListOfAProviderTakesPrecedence(t *testing.T) {
	p := &Provider{Name: "p"}
	p.offer.known = []modelcard.Card{{ID: "a", Shutdown: "2027-01-31"}, {ID: "b"}}
	for model, want := range map[string]time.Time{"a": time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), "b": {}, "c": {}} {
		named, same := Target{Provider: p, Model: model}.End("m"), Target{Provider: p}.End(model)
		assert.Equal(t, want, named.Day, model)
		assert.Equal(t, named, same, model)
		assert.Equal(t, model, named.Model)
	}
}
