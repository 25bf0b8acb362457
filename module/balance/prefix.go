package balance

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/rendezvous"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxPrefix is the largest number of bytes of each part of a prefix. More bytes hardly
// distinguish more conversations.
const maxPrefix = 4 << 10

// prefixSeed returns the seed of the beginning of a conversation in any format.
func prefixSeed(ex *exchange.Exchange) uint64 {
	parts := [...]string{ex.View.Model, "", "", ""}
	for name, value := range jsonscan.Members(lasting(ex)) {
		switch string(name) {
		case "system", "instructions":
			parts[1] = clip(value)
		case "messages", "input":
			parts[2] = clip(firstTurns(value))
		case "prompt":
			parts[3] = clip(value)
		}
	}
	return rendezvous.Seed(parts[:]...)
}

func clip(raw []byte) string { return string(raw[:min(len(raw), maxPrefix)]) }

// lasting returns the body without the attribution of an agent, which changes with every
// turn.
func lasting(ex *exchange.Exchange) []byte {
	find := ex.Format.Requests.Attribution
	if find == nil {
		return ex.Body
	}
	cut := find(ex.Body)
	if cut.Empty() {
		return ex.Body
	}
	return edit.Apply(nil, ex.Body, []edit.Edit{{Span: cut}})
}

// firstTurns returns a conversation up to its first turn of a user.
func firstTurns(turns []byte) []byte {
	c := jsonscan.Again(turns)
	if !c.EnterArray() {
		return turns
	}
	for c.Element() {
		turn := c.Skip()
		for name, value := range jsonscan.Members(turn) {
			if string(name) == "role" && strings.Contains(string(value), "user") {
				return turns[:c.Offset()]
			}
		}
	}
	return turns
}
