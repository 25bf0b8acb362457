package failover

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/failover/selection"
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
	objects, account, unknown := exchange.OpenObjects(x.objectIDs(), &x.ex.Request)
	x.candidates = slices.DeleteFunc(selection.All(x.model, x.ex.View.Model), func(t selection.Candidate) bool {
		return unknown != nil || !t.TraitsOf(x.ex.View.Model).SealsObjects() || seal.AccountOf(t.Provider.Name, t.APIKey) != account
	})
	if len(x.candidates) == 0 {
		x.verdict.Fault = x.ex.NoObject(cmp.Or(unknown, &x.ex.View.Beyond.ObjectIDs()[0]))
	}
	x.ex.Objects = objects
}

// objectIDs returns the sealer of the ids of objects for the client.
func (x *run) objectIDs() *seal.IDs { return x.Seals().IDs(x.ex.Owner()) }
