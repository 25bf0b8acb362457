package gateway

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets/clientsecret"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// serveSecret makes a client secret for the key of a request, which counts as a request and uses nothing.
func serveSecret(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	ex, dialect := answer.Exchange, route.Format.Client.DialectOf(translate.Realtime)
	refused := request.ReadObject(ex, r, h.config.MaxBody, func([]byte) *fault.Fault { return nil })
	if refused != nil {
		return refused
	}
	s, refused := clientsecret.Read(dialect, ex.Key.Digest, ex.Request.Body, time.Now())
	if refused != nil {
		return refused
	}
	if h.resolved.sources.Find(s.Key) == nil {
		return fault.SecretOfToken()
	}
	if refused := refuseSetup(h, ex, r, route, s.Setup(dialect)); refused != nil {
		return refused
	}
	chain := h.resolved.limits.Of(ex.Key)
	if chain == nil {
		return fault.LimitUnknown()
	}
	admitted, refused := chain.Admit(answer, r, nil, h.resolved.catalog)
	answer.Charge(meter.New(admitted.Estimate, admitted.Reservation, nil))
	if refused != nil {
		return refused
	}
	answer.WriteJSON(s.Answer(h.providers.Seals(), dialect))
	return nil
}

// refuseSetup refuses the setup of a client secret that no conversation of its key could have.
func refuseSetup(h *handler, ex *exchange.Exchange, r *http.Request, route *routes.Route, setup []byte) *fault.Fault {
	if setup == nil {
		return nil
	}
	dialect := route.Format.Client.DialectOf(translate.Realtime)
	asked, err := dialect.Read(setup)
	if err != nil {
		return fault.NotRealtimeEvent()
	}
	c := &conversation{socket: &openSocket{request: r, route: route, handler: h, key: ex.Key}}
	c.partner.dialect, c.partner.model = dialect, strings.TrimPrefix(textAt(setup, asked.Model), dialect.ModelPrefix)
	if _, refused := c.openNamed(setup, &asked); refused != nil {
		return refused
	}
	if refused := c.choose(h, ex); refused != nil {
		return refused
	}
	return c.check(setup, &asked)
}
