package format

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Prefix names the members with the beginning of a conversation, which later requests of
// the conversation repeat. A format has Turns or Text, or both.
type Prefix struct {
	Rules string // the system text beside the turns; "" for a format that has it in a turn
	Turns string // the turns, a list of objects; "" for a format without turns
	Role  string // the member of a turn that contains "user" in a turn of the user
	Text  string // a text or template that is all of the input; "" for none
}

// Beginning contains the raw values of a Prefix in one body, nil for a member that is absent.
// The turns end with the first one of a user.
type Beginning struct{ Rules, Turns, Text []byte }

// Beginning returns the beginning of a conversation in a valid body, without the attribution
// of an agent, which changes with every turn.
func (r *Requests) Beginning(body []byte) (b Beginning) {
	if cut := r.Attribution.In(body); !cut.Empty() {
		body = edit.Apply(nil, body, []edit.Edit{{Span: cut}})
	}
	for name, value := range jsonscan.Members(body) {
		switch string(name) {
		case r.Prefix.Rules:
			b.Rules = value
		case r.Prefix.Turns:
			b.Turns = firstTurns(value, r.Prefix.Role)
		case r.Prefix.Text:
			b.Text = value
		}
	}
	return b
}

// firstTurns returns a conversation up to its first turn of a user.
func firstTurns(turns []byte, role string) []byte {
	c := jsonscan.Again(turns)
	if !c.EnterArray() {
		return turns
	}
	for c.Element() {
		turn := c.Skip()
		for name, value := range jsonscan.Members(turn) {
			if string(name) == role && strings.Contains(string(value), "user") {
				return turns[:c.Offset()]
			}
		}
	}
	return turns
}
