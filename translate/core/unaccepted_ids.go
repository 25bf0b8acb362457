package core

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// callIDs gives the calls of earlier chat turns, which may be of another service, and their results
// the ids of nine letters and digits that the provider demands: those of a translated request.
func (r *refusals) callIDs() {
	if r.traits.CallIDs != trait.CallIDsNine || r.rows.names["messages[*].tool_call_id"] == nil || !bytes.Contains(r.stated.body, []byte(`"tool_call`)) {
		return
	}
	var history toolcall.History
	for turn := range r.stated.objects(r.stated.at("messages")) {
		if jsonscan.TextOf(r.stated.rawAt(turn["role"])) != "assistant" {
			history.EndTurn()
		}
		for call := range r.stated.objects(turn["tool_calls"]) {
			r.shorten(call["id"], history.Call)
		}
		r.shorten(turn["tool_call_id"], history.Result)
	}
}

// shorten replaces the id of a call that has another length or other characters. unique returns an id
// that no other call has.
func (r *refusals) shorten(id place, unique func(id []byte) []byte) {
	raw := r.stated.rawAt(id)
	if !jsonscan.IsString(raw) {
		return
	}
	text := jsonscan.DecodedOf(raw)
	if short := toolcall.AppendShortID(nil, unique(text)); !bytes.Equal(short, text) {
		r.Edits = append(r.Edits, edit.Edit{Span: id.value, With: jsonscan.AppendString(nil, string(short))})
	}
}
