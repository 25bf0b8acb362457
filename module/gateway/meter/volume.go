package meter

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// addVolume adds what the requests in a file may use to the calls of the charge of the file: of the further
// calls, the first has the number of answers without a bound in place of their tokens, and the second has the
// longest prompt.
func addVolume(calls []accounting.Call, v *exchange.Volume) []accounting.Call {
	all, open, longest := calls[0], calls[0], calls[0]
	all.Tokens = token.Counts{Fresh: v.Prompt, Answer: v.Answer, Searches: v.Searches}
	all.Units, all.Terms = v.Units, v.Terms
	open.Tokens = token.Counts{Answer: v.Open}
	longest.Tokens = token.Counts{Fresh: v.Longest}
	return []accounting.Call{all, open, longest}
}

// VolumeOf returns what the requests in a file may use, by the charge of the file; nil if the charge has their
// cost instead.
func VolumeOf(d *accounting.Deferred) *exchange.Volume {
	calls := d.Record.Calls
	if len(calls) != 3 {
		return nil
	}
	return &exchange.Volume{
		Prompt: calls[0].Tokens.Fresh, Longest: calls[2].Tokens.Fresh, Answer: calls[0].Tokens.Answer, Open: calls[1].Tokens.Answer,
		Searches: calls[0].Tokens.Searches, Units: calls[0].Units, Terms: calls[0].Terms,
	}
}
