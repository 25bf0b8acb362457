package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

func init() { caddy.RegisterModule(new(Webhook)) }

// Webhook is a handler of Caddy events that sends those of the gateway which are alerts by
// POST: budgets, providers, credentials, keys that expire, unknown prices and the ledger. It
// ignores all other events, so that it can be bound to all of them.
//
// A request has the headers of Standard Webhooks: Webhook-Id, Webhook-Timestamp and, with a
// secret, Webhook-Signature. It is repeated twice if it fails.
type Webhook struct {
	// URL is the address, or a reference to it: {env.NAME} or {file./absolute/path}. A file
	// is read again when it changes. Required.
	URL string `json:"url"`

	// Secret is a reference to the secret of signatures: {env.NAME} or
	// {file./absolute/path}. A secret that begins with "whsec_" is base64 behind it, as
	// Standard Webhooks has them. Default: no signatures.
	Secret string `json:"secret,omitempty"`

	// Format is "json" for a JSON object with id, event, time, text and data, or "slack" for
	// a JSON object with the text alone. Default: "json".
	Format string `json:"format,omitempty"`

	// Reports are the periods whose spend is sent when they have ended: "daily", "weekly",
	// "monthly". The handler must be bound to the event ai_gateway_spend_report, or to all; a
	// handler of that event needs a period. Default: none.
	Reports []string `json:"reports,omitempty"`

	sender *sender
}

// The formats.
const (
	formatJSON  = "json"
	formatSlack = "slack"
)

var (
	errFormat   = errors.New("format: must be json or slack")
	errReport   = errors.New("report: must be some of daily, weekly and monthly, each once")
	errNoPeriod = errors.New("report: is missing: without it, nothing is sent on " + events.SpendReport + "; its periods are daily, weekly and monthly")
	errAddress  = errors.New("url: must be an http or https address with a host")
)

// CaddyModule returns the module information.
func (*Webhook) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.ai_gateway_webhook", New: func() caddy.Module { return new(Webhook) }}
}

// senders are the senders of the loaded configurations. A reload keeps what waits in them.
var senders = caddy.NewUsagePool()

// poolKey identifies the sender of the handler.
func (w *Webhook) poolKey() string { return strings.Join([]string{w.URL, w.Secret, w.Format}, "\x00") }

// fingerprint returns a name of the webhook that is the same in all gateways with its
// configuration, and reveals neither its address nor its secret.
func (w *Webhook) fingerprint() string {
	sum := sha256.Sum256([]byte(w.poolKey()))
	return hex.EncodeToString(sum[:8])
}

// Provision prepares the handler.
func (w *Webhook) Provision(ctx caddy.Context) error {
	if w.Format != "" && w.Format != formatJSON && w.Format != formatSlack {
		return errFormat
	}
	for i, period := range w.Reports {
		if _, ok := alerts.PeriodOf(period); !ok || slices.Contains(w.Reports[:i], period) {
			return errReport
		}
	}
	if err := w.checkEvents(eventsOf(ctx)); err != nil {
		return err
	}
	logger := ctx.Logger()
	loaded, _, err := senders.LoadOrNew(w.poolKey(), func() (caddy.Destructor, error) {
		return newSender(w.Format == formatSlack, marks{ctx.Storage(), w.fingerprint()}, logger), nil
	})
	if err != nil {
		return err
	}
	w.sender = loaded.(*sender)
	if aigateway.CheckSecretReference(w.URL) != nil {
		err = w.sender.setURL(aigateway.Secret(w.URL))
	} else {
		err = secrets.Follow(ctx, w.URL, logger, w.sender.setURL)
	}
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if w.Secret != "" {
		if err := secrets.Follow(ctx, w.Secret, logger, w.sender.setSecret); err != nil {
			return fmt.Errorf("secret: %w", err)
		}
	}
	w.sender.start()
	return nil
}

// eventsOf returns the names of the events that Caddy binds the handler to which it loads; none for all
// events, and if they are unknown.
func eventsOf(ctx caddy.Context) []string {
	lineage := ctx.Modules()
	if len(lineage) < 2 {
		return nil
	}
	app, ok := lineage[len(lineage)-2].(*caddyevents.App)
	if !ok {
		return nil
	}
	for _, subscription := range app.Subscriptions {
		if subscription.HandlersRaw != nil { // Caddy removes those that are loaded
			return subscription.Events
		}
	}
	return nil
}

// checkEvents returns an error if the handler sends nothing of an event that it is bound to, or if it is
// bound to none that report is about.
func (w *Webhook) checkEvents(bound []string) error {
	if len(bound) == 0 || slices.Contains(bound, "") {
		return nil
	}
	for _, name := range bound {
		if known := alerts.Events(); !slices.Contains(known, name) {
			return fmt.Errorf("on: the event '%s' is no alert; %salerts are: %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	switch bindsReports := slices.Contains(bound, events.SpendReport); {
	case bindsReports && len(w.Reports) == 0:
		return errNoPeriod
	case !bindsReports && len(w.Reports) > 0:
		return fmt.Errorf("report: has no effect on %s; bind the handler to %s, or to *", strings.Join(bound, ", "), events.SpendReport)
	}
	return nil
}

// ReportsSpend reports whether the handler sends spend reports.
func (w *Webhook) ReportsSpend() bool { return len(w.Reports) > 0 }

// checkURL returns an error unless a text is an address for requests.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errAddress // without the cause, which quotes the address
	}
	return nil
}

// Cleanup releases the sender, which ends with its last handler.
func (w *Webhook) Cleanup() error {
	if w.sender == nil {
		return nil
	}
	_, err := senders.Delete(w.poolKey())
	return err
}

// Handle sends an event if it is an alert, or a report of one of the periods. It does not wait
// for the webhook.
func (w *Webhook) Handle(_ context.Context, e caddy.Event) error {
	a := alerts.New(e.ID().String(), e.Name(), e.Timestamp(), e.Data)
	if a == nil || a.IsReport() && !slices.Contains(w.Reports, fmt.Sprint(a.Data["period"])) {
		return nil
	}
	w.sender.add(a)
	return nil
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens:
//
//	ai_gateway_webhook <url> {
//		secret {file./path}
//		format json|slack
//		report daily|weekly|monthly...
//	}
func (w *Webhook) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if !d.Args(&w.URL) || d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		var dst *string
		switch d.Val() {
		case "secret":
			dst = &w.Secret
		case "format":
			dst = &w.Format
		case "report":
			if w.Reports = append(w.Reports, d.RemainingArgs()...); len(w.Reports) == 0 {
				return d.ArgErr()
			}
			continue
		default:
			return d.Errf("unknown word %s: secret, format or report", d.Val())
		}
		if *dst != "" {
			return d.Errf("%s is set twice", d.Val())
		}
		if !d.Args(dst) || d.NextArg() {
			return d.ArgErr()
		}
	}
	if w.Secret != "" {
		if err := aigateway.CheckSecretReference(w.Secret); err != nil {
			return d.Errf("secret: %v", err)
		}
	}
	return nil
}

var (
	_ caddy.Provisioner     = (*Webhook)(nil)
	_ caddy.CleanerUpper    = (*Webhook)(nil)
	_ caddyevents.Handler   = (*Webhook)(nil)
	_ caddyfile.Unmarshaler = (*Webhook)(nil)
)
