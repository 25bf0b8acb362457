package providers

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Demo is a provider without a model. It answers in-process and without an account, in every
// format, with a deterministic text. The prompt can ask for calls of tools and for errors.
type Demo struct {
	// Pace is the pause before each piece of content of a stream.
	// Default: 15ms. Negative: none.
	Pace caddy.Duration `json:"pace,omitempty"`
	// Strict refuses unknown options, and reasoning that this provider has not signed, as
	// the services of the vendors do. Default: false.
	Strict bool `json:"strict,omitempty"`
	// Names are the models of the provider; it refuses others. Default: it lists "demo",
	// and answers for every name.
	Names []string `json:"names,omitempty"`

	engine *demo.Engine
}

// CaddyModule returns the Caddy module information.
func (Demo) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.providers.demo",
		New: func() caddy.Module { return new(Demo) },
	}
}

// Provision starts the engine.
func (d *Demo) Provision(caddy.Context) error {
	pace := time.Duration(d.Pace)
	if pace == 0 {
		pace = demo.DefaultPace
	}
	d.engine = demo.New(demo.WithPace(max(pace, 0)), demo.WithStrict(d.Strict), demo.WithModels(d.Names...))
	return nil
}

// Defaults implements aigateway.Preset. The address is never dialed; it only determines the
// paths of the requests to the engine.
func (*Demo) Defaults() aigateway.Defaults {
	return aigateway.Defaults{
		BaseURL:     "http://demo/v1",
		Formats:     formats.Names(),
		ListsModels: true,
		Protocol:    aigateway.Protocol{Address: demoAddress},
	}
}

// errNoEndpoint refuses calls of endpoints beside text, and of compactions.
var errNoEndpoint = errors.New("the demo provider has no endpoint beside text but that of embeddings")

// demoAddress refuses what the engine does not answer.
func demoAddress(call *aigateway.Call) error {
	if call.Operation.Untranslated() && !call.Operation.Embeds() {
		return errNoEndpoint
	}
	return nil
}

// RoundTrip answers a request in-process.
func (d *Demo) RoundTrip(r *http.Request) (*http.Response, error) {
	return d.engine.RoundTrip(r)
}

// UnmarshalCaddyfile reads the demo provider's own words. Syntax:
//
//	pace  <duration> | off
//	names <model...>
//	strict
func (d *Demo) UnmarshalCaddyfile(dis *caddyfile.Dispenser) error {
	for dis.Next() {
		if err := d.parseWord(dis); err != nil {
			return err
		}
	}
	return nil
}

func (d *Demo) parseWord(dis *caddyfile.Dispenser) error {
	switch dis.Val() {
	case "pace":
		return d.parsePace(dis)
	case "names":
		return d.parseNames(dis)
	case "strict":
		d.Strict = true
		if dis.NextArg() {
			return dis.Err("strict takes no argument")
		}
		return nil
	default:
		return dis.Errf("unrecognized word in a demo provider: %s; its own words are names, pace and strict", dis.Val())
	}
}

func (d *Demo) parseNames(dis *caddyfile.Dispenser) error {
	names := aigateway.SplitList(dis.RemainingArgs())
	if len(names) == 0 {
		return dis.Err("names needs at least one model")
	}
	d.Names = append(d.Names, names...)
	return nil
}

func (d *Demo) parsePace(dis *caddyfile.Dispenser) error {
	args := dis.RemainingArgs()
	if len(args) != 1 {
		return dis.Err("pace needs one duration, or off")
	}
	if args[0] == "off" {
		d.Pace = -1
		return nil
	}
	pace, err := caddy.ParseDuration(args[0])
	if err != nil || pace <= 0 {
		return dis.Err("pace needs a duration above zero such as 15ms, or off")
	}
	d.Pace = caddy.Duration(pace)
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Demo)(nil)
	_ caddyfile.Unmarshaler = (*Demo)(nil)
	_ aigateway.Preset      = (*Demo)(nil)
	_ http.RoundTripper     = (*Demo)(nil)
)
