package failover

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// sealsObjects reports whether a target of the model has sealed ids of stored objects.
func (x *run) sealsObjects() bool {
	return slices.ContainsFunc(x.model.Targets, func(t catalog.Target) bool { return t.TraitsOf(x.ex.View.Model).SealsObjects() })
}

// findObjects keeps the candidates of the account that stores the objects of the request, even if
// they rest: no other account has the objects. If none is left, the verdict is that the client has
// no such object.
func (x *run) findObjects() {
	objects, ok := exchange.OpenObjects(x.Seals().IDs(x.ex.Owner()), &x.ex.Request)
	x.candidates = slices.DeleteFunc(selection.All(x.model, x.ex.View.Model), func(t selection.Candidate) bool {
		return !ok || !t.TraitsOf(x.ex.View.Model).SealsObjects() || accountOf(&t) != objects.Account
	})
	if len(x.candidates) == 0 {
		x.verdict.Fault = fault.NoObject(x.ex.FirstObject())
	}
	x.objects = objects
}

// objectsAt returns the objects of an attempt, nil if their ids are not sealed: because the
// provider is asked in another format, which stores nothing, or the client demands that nothing is
// stored.
func (x *run) objectsAt(t *selection.Candidate, a *exchange.Attempt) *exchange.Objects {
	switch beyond := &x.ex.View.Beyond; {
	case !a.Traits.SealsObjects() || !a.ByteLane() || a.Format.Answers.EditObjects == nil:
		return nil
	case len(beyond.Objects) > 0:
		return x.objects
	case beyond.Unstored:
		return nil
	}
	return &exchange.Objects{IDs: x.Seals().IDs(x.ex.Owner()), Account: accountOf(t)}
}

// accountOf returns the account of a candidate.
func accountOf(t *selection.Candidate) seal.Account {
	return seal.AccountOf(t.Provider.Name, t.APIKey)
}
