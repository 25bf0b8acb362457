package caddyfile

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// provider is a gateway.Provider while it is read.
type provider struct {
	*gateway.Provider
	preset         caddy.Module
	presetName     string
	path           string // a base_url that is a path alone
	connectTimeout caddy.Duration

	// Lines that others know how to read, kept until the block has ended.
	proxyTokens  []cf.Token
	presetTokens []cf.Token
}

var providerWords = withProxyWords(withTraits(withAnswerBounds(words[*provider]{
	"api_key":         {read: readAPIKey},
	"base_url":        {read: readBaseURL},
	"format":          {read: readFormats},
	"models":          {read: readModels, repeat: true},
	"stream_end":      {read: readStreamEnd},
	"connect_timeout": timeout(func(p *provider) *caddy.Duration { return &p.connectTimeout }),
}, func(p *provider) *aigateway.AnswerBounds { return &p.AnswerBounds }), func(p *provider) *map[string]string { return &p.Traits }))

// readProvider reads an upstream service. Syntax:
//
//	provider <name> [<preset>] [<api_key>] {
//		api_key  {env.NAME} | {file./absolute/path}
//		base_url <url> | <path>
//		format   <messages | chat | completions...>
//		models   [auto | static] <pattern...> | auto | static | off
//
//		stream_end done | finish
//
//		connect_timeout         <duration>
//		response_header_timeout <duration>
//		first_event_timeout     <duration>
//		idle_timeout            <duration>
//		usage_wait              <duration>
//		max_event_bytes         <size>
//
//		<name of a trait> <value...>
//		<words of reverse_proxy: see proxyWords>
//		<words of the preset>
//	}
//
// The second word is a preset unless it is a placeholder; without a preset the
// name is one. connect_timeout is the dial_timeout of the http transport.
//
// models bounds the names that the provider serves. With auto, GET /v1/models
// shows those of them that the provider lists itself; with static, those that
// the configuration names. Presets whose service documents a list have auto,
// the others static.
//
// base_url is a whole URL, or a path alone beside addresses given with to or
// dynamic, which have no path; there the default is /v1.
func readProvider(d *cf.Dispenser, c *config) error {
	line := *d // errors about the block as a whole name its first line
	p := &provider{Provider: new(gateway.Provider)}
	if err := p.readHead(d); err != nil {
		return err
	}
	sameName := func(other *gateway.Provider) bool { return other.Name == p.Name }
	if slices.ContainsFunc(c.Providers, sameName) {
		return d.Errf("provider '%s' is defined twice", p.Name)
	}
	if err := providerWords.readBlock(d, "provider", p, p.otherWord()); err != nil {
		return err
	}
	if err := p.finish(&line, d.Token()); err != nil {
		return err
	}
	c.Providers = append(c.Providers, p.Provider)
	return nil
}

// readHead reads the line of a provider up to its block.
func (p *provider) readHead(d *cf.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) == 0 || len(args) > 3 {
		return d.Err("a provider is: provider <name> [<preset>] [<api_key>]")
	}
	if err := checkProviderName(d, args[0]); err != nil {
		return err
	}
	p.Name, args = args[0], args[1:]
	preset := p.Name
	if len(args) > 0 && !strings.HasPrefix(args[0], "{") {
		preset, args = args[0], args[1:]
	}
	if err := p.setPreset(d, preset); err != nil {
		return err
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return p.setAPIKey(d, args[0])
	}
	return d.Err("a provider is: provider <name> [<preset>] [<api_key>]")
}

const presetNamespace = "ai_gateway.providers"

// setPreset does not repeat an unknown name unless it is the provider's own:
// it may be an API key at the wrong place.
func (p *provider) setPreset(d *cf.Dispenser, name string) error {
	info, err := caddy.GetModule(presetNamespace + "." + name)
	if err == nil {
		p.preset, p.presetName = info.New(), name
		return nil
	}
	known := moduleNames(presetNamespace)
	list, meant := strings.Join(known, ", "), suggest.DidYouMean(name, known)
	if name == p.Name {
		return d.Errf("provider '%s' needs a preset after its name, since none has that name; %sknown are: %s", name, meant, list)
	}
	return d.Errf("after the name of a provider comes a preset or an API key written {env.NAME}, never the key itself, which is also what {$NAME} becomes; %sknown presets are: %s", meant, list)
}

func (p *provider) setAPIKey(d *cf.Dispenser, ref string) error {
	if p.APIKey != "" {
		return d.Errf("provider '%s' has two API keys", p.Name)
	}
	p.APIKey = ref
	return checkSecret(d, ref)
}

func readAPIKey(d *cf.Dispenser, p *provider) error {
	ref, err := readOne(d)
	if err != nil {
		return err
	}
	return p.setAPIKey(d, ref)
}

// readBaseURL does not repeat what it refuses: it may hold a password.
func readBaseURL(d *cf.Dispenser, p *provider) error {
	text, err := readOne(d)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(text, "/") && !strings.Contains(text, "://") {
		return d.Err("base_url needs http:// or https:// before the host")
	}
	u, err := url.Parse(text)
	whole := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	path := err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/")
	if !whole && !path || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return d.Err("base_url needs an http or https URL, or a path beside to or dynamic, without credentials, query or fragment")
	}
	if path {
		p.path = text
	} else {
		p.BaseURL = text
	}
	return nil
}

func readFormats(d *cf.Dispenser, p *provider) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	for _, name := range list {
		format := translate.Format(name)
		if formats.Of(format) == nil {
			return d.Errf("unknown format '%s'; known are: %s", name, strings.Join(formatNames(), ", "))
		}
		p.Formats = append(p.Formats, format)
	}
	return nil
}

func formatNames() []string {
	var names []string
	for _, format := range formats.All() {
		names = append(names, format.String())
	}
	return names
}

// readModels reads what a provider serves without a model block; off is nothing.
// auto or static, before all else of a line, says where the names that clients
// are shown come from.
func readModels(d *cf.Dispenser, p *provider) error {
	list, err := readPatterns(d, p.Models)
	if err != nil {
		return err
	}
	added := list[len(p.Models):]
	off := slices.Contains(added, "off")
	if p.DisableModels || off && (len(list) > 1 || p.ModelList != "") {
		return d.Err("models is either off or names and patterns")
	}
	if off {
		p.DisableModels = true
		return nil
	}
	if isModelList(added[0]) {
		if p.ModelList != "" {
			return d.Err("models takes auto or static once")
		}
		p.ModelList, added = added[0], added[1:]
	}
	if i := slices.IndexFunc(added, isModelList); i >= 0 {
		return d.Errf("models takes %s before names and patterns", added[i])
	}
	p.Models = append(p.Models, added...)
	return nil
}

func isModelList(word string) bool {
	return word == gateway.ModelListAuto || word == gateway.ModelListStatic
}

func readStreamEnd(d *cf.Dispenser, p *provider) (err error) {
	if p.StreamEnd, err = readOne(d); err != nil {
		return err
	}
	if p.StreamEnd != aigateway.StreamEndDone && p.StreamEnd != aigateway.StreamEndFinish {
		return d.Errf("stream_end is %s or %s, not '%s'", aigateway.StreamEndDone, aigateway.StreamEndFinish, p.StreamEnd)
	}
	return nil
}

// otherWord returns what keeps the words of a preset that has its own, nil for
// one that has none.
func (p *provider) otherWord() func(*cf.Dispenser) error {
	if _, ok := p.preset.(cf.Unmarshaler); !ok {
		return nil
	}
	return func(d *cf.Dispenser) error {
		p.presetTokens = append(p.presetTokens, d.NextSegment()...)
		return nil
	}
}

// finish has the words that were kept read by those who know them. line stands
// on the first line of the block, last is the token that ends it.
func (p *provider) finish(line *cf.Dispenser, last cf.Token) error {
	if len(p.presetTokens) > 0 {
		err := p.preset.(cf.Unmarshaler).UnmarshalCaddyfile(cf.NewDispenser(p.presetTokens))
		if err != nil {
			return err
		}
	}
	p.PresetRaw = caddyconfig.JSONModuleObject(p.preset, "preset", p.presetName, nil)
	return p.finishProxy(line, last)
}
