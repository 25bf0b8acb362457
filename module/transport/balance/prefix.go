package balance

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

// maxPrefix is the largest number of bytes of each part of a prefix. More bytes hardly
// distinguish more conversations.
const maxPrefix = 4 << 10

// prefixSeed returns the seed of the beginning of a conversation.
func prefixSeed(ex *exchange.Exchange) uint64 {
	begins := ex.Request.Format.Requests.Beginning(ex.Request.Body)
	return rendezvous.Seed(ex.Request.View.Model, clip(begins.Rules), clip(begins.Turns), clip(begins.Text))
}

func clip(raw []byte) string { return string(raw[:min(len(raw), maxPrefix)]) }
