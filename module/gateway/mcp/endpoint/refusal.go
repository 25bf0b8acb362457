package endpoint

import (
	"net/http"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	wire "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// refusal is a request that uses what its client may not use.
type refusal struct {
	server  string        // "" for none
	message *wire.Message // nil for a request without a message
	element string        // of the server; "" for none
	why     *fault.Fault
}

// report makes a refusal a request in the limits of the key, with a record, and logs it. The limits bound how many
// names a client can try, and how much of the log it fills. It returns what the client gets.
func (x refusal) report(s *Site, answer *reply.Reply, r *http.Request) *fault.Fault {
	ex, tool := answer.Exchange, ""
	if x.message != nil && x.message.IsCall() { // addresses of resources may be secrets
		tool = mcp.ClipName(x.element)
	}
	server := mcp.ClipName(x.server)
	ex.Request.View.Model = modelOf(server, tool)
	if refused := s.Names.Apply(ex); refused != nil {
		return refused
	}
	if refused := s.Admit(answer, r); refused != nil {
		return refused
	}
	s.Logger.Info("MCP use refused", zap.String("request_id", ex.ID), zap.String("key_id", ex.Key.ID), zap.String("server", server),
		zap.String("method", methodOf(x.message, r)), zap.String("tool", tool), zap.String("reason", x.why.LogMessage()))
	return x.why
}
