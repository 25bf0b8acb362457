package balance

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/rendezvous"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
)

// maxPrefix bounds the bytes of each part of a prefix: a longer common beginning makes
// no difference to where its cache is.
const maxPrefix = 4 << 10

// prefixSeed returns the seed of the beginning of a conversation in any format. body is
// a valid JSON object.
func prefixSeed(model string, body []byte) uint64 {
	parts := [...]string{model, "", "", ""}
	for name, value := range jsonscan.Members(body) {
		switch string(name) {
		case "system", "instructions":
			parts[1] = clip(systemPrefix(value))
		case "messages", "input":
			parts[2] = clip(firstTurns(value))
		case "prompt":
			parts[3] = clip(value)
		}
	}
	return rendezvous.Seed(parts[:]...)
}

func clip(raw []byte) string { return string(raw[:min(len(raw), maxPrefix)]) }

// systemPrefix returns a system text without the attribution with which it may begin,
// which changes from turn to turn.
func systemPrefix(system []byte) []byte {
	c := jsonscan.Again(system)
	if !c.EnterArray() {
		return system
	}
	for c.Element() {
		start := c.Offset()
		if !request.IsAttribution(c.Skip()) {
			return system[start:]
		}
	}
	return nil
}

// firstTurns returns a conversation up to its first turn of a user. The cache of later
// turns is where that of this one is.
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
