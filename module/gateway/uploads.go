package gateway

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/promptfile"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// serveUpload answers a request whose body is a form with a file. The provider gets the form while the
// client sends it. A part that is refused ends the request to the provider before its end, so that
// nothing is stored.
func serveUpload(h *handler, answer *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	ex := answer.Exchange
	if guard := h.resolved.guards.Checking(ex.Key.ID); guard != "" {
		return fault.FileUnseen(guard)
	}
	holder, refused := h.holderOf(ex, r, route.Object)
	if refused != nil {
		return refused
	}
	upload, refused := request.NewUpload(r, route.Object.Form, h.config.MaxUpload)
	if refused != nil {
		return refused
	}
	if _, refused := h.admit(answer, r, nil); refused != nil {
		return refused
	}
	switch requests := route.Object.Form.Requests; {
	case requests != nil && requests.Text == "":
		if file := newPromptFile(h, ex, route.Object, holder); file != nil {
			upload.ReadFile(file)
		}
	case requests != nil:
		requests := &batchFile{batch: newBatch(h, ex, route.Object)}
		upload.ReadLines(requests, h.config.MaxBody)
		switch has, refused := upload.HasLines(); {
		case refused != nil:
			return refused
		case has:
			holder.Provider, holder.APIKey = requests.offers[0].provider, requests.offers[0].apiKey
		}
	}
	ex.Objects.Call.Upload, ex.Objects.Call.Kind = upload, route.Object.Kind
	if p := route.Object.Form.Resumable; p != nil {
		ex.Objects.Call.Header = http.Header{p.Protocol: {p.Whole}}
	}
	return askHolder(h, holder, answer, unread(r))
}

// newPromptFile returns a reader of a file that an account will store, nil if there is no ledger that could
// keep what is in it.
func newPromptFile(h *handler, ex *exchange.Exchange, o *format.ObjectPath, holder *failover.Holder) *promptfile.File {
	if h.settler.Book.Deferring() == nil {
		return nil
	}
	currency := newBatch(h, ex, o).currencyAt(&holder.Provider.Alone().Targets[0])
	return promptfile.New(o.Form.Requests, h.config.MaxBody, currency != "" || len(ex.Key.Bound()) > 0)
}
