package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// LeaveOut reports whether a text of a role has nothing but white space, and reports its loss.
// Some services refuse such texts, and with them a conversation that has one.
func LeaveOut(x *Translation, role Role, text []byte) (blank bool) {
	switch {
	case !jsonscan.OnlySpace(text):
		return false
	case role == Assistant:
		x.Keep(PrefillSpace, nil)
	case role == Instructions:
		Report(x, SystemText, Hinted)
	default:
		Report(x, TurnText, Hinted)
	}
	return true
}

// InputOf returns the arguments of a call as the object that some formats require, or nil if the
// request is refused. Arguments that are no object are wrapped in one. The object may be a slice
// of scratch.
func InputOf(x *Translation, c *Call, scratch *[]byte) (object []byte) {
	if c.Input != nil {
		return c.Input
	}
	*scratch = jsonscan.AppendUnescaped((*scratch)[:0], c.Text)
	object, ok := toolcall.Object(*scratch)
	switch {
	case ok:
		return object
	case x.Keep(BrokenArguments, nil):
		return toolcall.AppendArguments(nil, *scratch, false)
	}
	return nil
}
