package request

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// conversationFields are those of the requests that create, change or continue a conversation.
var conversationFields = strict.Fields{
	{Name: "items", Check: checkConversationItems, Objects: fieldNamed("input").Objects},
	fieldNamed("metadata"),
}

// fieldNamed returns a field of requests for responses.
func fieldNamed(name string) strict.Field {
	return fields[slices.IndexFunc(fields, func(f strict.Field) bool { return f.Name == name })]
}

// CheckItems is the strict pass over the body of a request that creates, changes or continues a
// conversation. Its items are those of the input of a response. It refuses a reference to an item
// by an id: that does not show whose the item is.
func CheckItems(body []byte) *fault.Fault {
	view, refused := strict.Read(body, strict.Brackets, conversationFields).End()
	if refused == nil && view.Beyond.References != nil {
		refused = fault.NeedsOwner(view.Beyond.References.Unowned)
	}
	return refused
}

func checkConversationItems(p *strict.Pass, objects *strict.Table) {
	if p.JSON.Kind() != jsonscan.Array {
		p.Refuse("must be an array of items" + p.Got())
		return
	}
	checkItems(p, objects, "items")
}
