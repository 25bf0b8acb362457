package caddyfile

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// provider is a catalog.ProviderConfig that is being read.
type provider struct {
	config         *catalog.ProviderConfig
	preset         caddy.Module
	presetName     string
	path           string // base_url, if it is only a path
	connectTimeout caddy.Duration

	// Segments for reverse_proxy and for the preset. finish passes them on at the end
	// of the block.
	proxyTokens  []cf.Token
	presetTokens []cf.Token
}

var providerWords = withProxyWords(withTraits(withAnswerBounds(words[*provider]{
	"api_key":    {read: readAPIKeys, repeat: true},
	"base_url":   {read: readBaseURL},
	"format":     {read: readFormats},
	"models":     {read: readModels, repeat: true},
	"stream_end": {read: readStreamEnd},
	"price":      {read: readPrice, repeat: true},
	"listed_as": {read: func(d *cf.Dispenser, p *provider) (err error) {
		p.config.ListedAs, err = readOne(d)
		return err
	}},
	"cooldown": {read: func(d *cf.Dispenser, p *provider) (err error) {
		p.config.Cooldown, err = readDurationOrOff(d)
		return err
	}},
	"fail_rate": {read: func(d *cf.Dispenser, p *provider) (err error) {
		p.config.FailRate, err = readPercentOrOff(d)
		return err
	}},
	"max_running": {read: func(d *cf.Dispenser, p *provider) (err error) {
		p.config.MaxRunning, err = readCount(d)
		return err
	}},
	"queue": {read: func(d *cf.Dispenser, p *provider) (err error) {
		p.config.Queue, err = readQueue(d)
		return err
	}},
	"limit":           {read: readCallLimit(func(p *provider) **aigateway.LimitRules { return &p.config.Limit })},
	"connect_timeout": timeout(func(p *provider) *caddy.Duration { return &p.connectTimeout }),
}, func(p *provider) *aigateway.AnswerBounds {
	return &p.config.AnswerBounds
}), func(p *provider) *map[string]string {
	return &p.config.Traits
}))

// readProvider reads a provider. Syntax:
//
//	provider <name> [<preset>] [<api_key>...] {
//		api_key  <{env.NAME} | {file./absolute/path}...>
//		base_url <url> | <path>
//		format   <messages | chat | completions...>
//		models   [auto | static] <pattern...> | auto | static | off
//
//		stream_end done | finish
//
//		cooldown    <duration> | off
//		fail_rate   <percentage> | off
//		max_running <number>
//		queue       <number> [<duration>]
//		limit       { <rules: see readCallLimit> }
//
//		price     <model> <column> <value> [<column> <value>...]
//		listed_as <provider in the table of prices>
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
// The second argument is a preset unless it is a placeholder. The default preset has
// the name of the provider. connect_timeout is the dial_timeout of the http
// transport.
//
// models restricts the names that the provider serves. GET /v1/models lists those of them
// that the provider itself lists (auto), or those without "*" (static). The default is
// auto for presets whose service documents a list, else static.
//
// base_url is a URL. If the addresses are set with to or dynamic, which have no path,
// base_url is only a path, and its default is /v1.
func readProvider(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	p := &provider{config: new(catalog.ProviderConfig)}
	if err := p.readHead(d); err != nil {
		return err
	}
	if err := providerWords.readBlock(d, "provider", p, p.otherWord()); err != nil {
		return err
	}
	if err := p.finish(&line, d.Token()); err != nil {
		return err
	}
	sameName := func(other *catalog.ProviderConfig) bool { return other.Name == p.config.Name }
	if slices.ContainsFunc(slices.Concat(c.inherited.Providers, c.gateway.Providers), sameName) {
		return line.Errf("provider '%s' is defined twice", p.config.Name)
	}
	c.gateway.Providers = append(c.gateway.Providers, p.config)
	if err := c.checkClaims(); err != nil {
		return line.WrapErr(err)
	}
	return nil
}

// readHead reads the arguments of a provider, before its block.
func (p *provider) readHead(d *cf.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.Err("a provider is: provider <name> [<preset>] [<api_key>...]")
	}
	if err := aigateway.CheckProviderName(args[0]); err != nil {
		return d.WrapErr(err)
	}
	p.config.Name, args = args[0], args[1:]
	preset := p.config.Name
	if len(args) > 0 && !strings.HasPrefix(args[0], "{") {
		preset, args = args[0], args[1:]
	}
	if err := p.setPreset(d, preset); err != nil {
		return err
	}
	return p.addAPIKeys(d, args)
}

const presetNamespace = "ai_gateway.providers"

// setPreset sets the preset. Its error repeats an unknown name only if it is the name of
// the provider, because any other argument may be a misplaced API key.
func (p *provider) setPreset(d *cf.Dispenser, name string) error {
	info, err := caddy.GetModule(presetNamespace + "." + name)
	if err == nil {
		p.preset, p.presetName = info.New(), name
		return nil
	}
	known := moduleNames(presetNamespace)
	list, meant := strings.Join(known, ", "), suggest.DidYouMean(name, known)
	if name == p.config.Name {
		return d.Errf("no preset is named '%s', so the provider needs one after its name; %sknown are: %s. %s", name, meant, list, anyService)
	}
	return d.Errf("the word after the name of the provider is no preset; %sknown presets are: %s. %s. An API key is {env.NAME}: a literal one is refused, and {$NAME} inserts one", meant, list, anyService)
}

const anyService = "A service whose API is like OpenAI's needs openai_compatible and its base_url"

// addAPIKeys adds references to API keys. Its error about a literal does not repeat it.
func (p *provider) addAPIKeys(d *cf.Dispenser, references []string) error {
	for _, reference := range references {
		if err := checkSecret(d, reference); err != nil {
			return err
		}
		if slices.Contains(p.config.APIKeys, reference) {
			return d.Errf("provider '%s' has the API key %s twice", p.config.Name, reference)
		}
		p.config.APIKeys = append(p.config.APIKeys, reference)
	}
	return nil
}

func readAPIKeys(d *cf.Dispenser, p *provider) error {
	references := d.RemainingArgs()
	if len(references) == 0 {
		return d.Err("api_key needs at least one value")
	}
	return p.addAPIKeys(d, references)
}

// readBaseURL reads a URL or a path. Its errors do not repeat the argument, which may
// contain a password.
func readBaseURL(d *cf.Dispenser, p *provider) error {
	text, err := readOne(d)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(text, "/") && !strings.Contains(text, "://") {
		return d.Err("base_url: http:// or https:// is missing before the host")
	}
	if strings.HasPrefix(text, "/") {
		p.path, text = text, "http://host"+text
	} else {
		p.config.BaseURL = text
	}
	if _, err := aigateway.ParseBaseURL(text); err != nil {
		return d.Errf("base_url: %w", err)
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
			known := formatNames()
			return d.Errf("unknown format '%s'; %sknown are: %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
		}
		p.config.Formats = append(p.config.Formats, format)
	}
	return nil
}

func formatNames() []string {
	var names []string
	for _, format := range formats.OfProviders() {
		names = append(names, format.String())
	}
	return names
}

// readModels reads the names that a provider serves without a model block, or off. The
// first value may be auto or static, the source of the list of models.
func readModels(d *cf.Dispenser, p *provider) error {
	list, err := readPatterns(d, p.config.Models)
	if err != nil {
		return err
	}
	added := list[len(p.config.Models):]
	disabled := slices.Contains(added, "off")
	if p.config.DisableModels || disabled && (len(list) > 1 || p.config.ModelList != "") {
		return d.Err("models is either off, or names and patterns")
	}
	if disabled {
		p.config.DisableModels = true
		return nil
	}
	if isModelList(added[0]) {
		if p.config.ModelList != "" {
			return d.Err("models has either auto or static, once")
		}
		p.config.ModelList, added = added[0], added[1:]
	}
	if i := slices.IndexFunc(added, isModelList); i >= 0 {
		return d.Errf("models: %s must precede names and patterns", added[i])
	}
	p.config.Models = append(p.config.Models, added...)
	return nil
}

func isModelList(word string) bool {
	return word == catalog.ModelListAuto || word == catalog.ModelListStatic
}

func readStreamEnd(d *cf.Dispenser, p *provider) (err error) {
	if p.config.StreamEnd, err = readOne(d); err != nil {
		return err
	}
	if p.config.StreamEnd != aigateway.StreamEndDone && p.config.StreamEnd != aigateway.StreamEndFinish {
		return d.Errf("stream_end must be %s or %s, not '%s'", aigateway.StreamEndDone, aigateway.StreamEndFinish, p.config.StreamEnd)
	}
	return nil
}

// otherWord returns a function that stores the segments of unknown words for the preset,
// nil if the preset has no words.
func (p *provider) otherWord() func(*cf.Dispenser) error {
	if _, ok := p.preset.(cf.Unmarshaler); !ok {
		return nil
	}
	return func(d *cf.Dispenser) error {
		p.presetTokens = append(p.presetTokens, d.NextSegment()...)
		return nil
	}
}

// finish passes the stored segments to the preset and to reverse_proxy. line is the
// dispenser on the first line of the block; last is the last token of the block.
func (p *provider) finish(line *cf.Dispenser, last cf.Token) error {
	if len(p.presetTokens) > 0 {
		err := p.preset.(cf.Unmarshaler).UnmarshalCaddyfile(cf.NewDispenser(p.presetTokens))
		if err != nil {
			return err
		}
	}
	p.config.PresetRaw = caddyconfig.JSONModuleObject(p.preset, "preset", p.presetName, nil)
	if err := p.finishProxy(line, last); err != nil {
		return err
	}
	return p.check(line)
}

// check returns an error for settings that cannot work with the defaults of the preset. The
// defaults of a preset that has to be provisioned are not known yet.
func (p *provider) check(line *cf.Dispenser) error {
	preset, ok := p.preset.(aigateway.Preset)
	if _, later := p.preset.(caddy.Provisioner); later || !ok {
		return nil
	}
	_, inProcess := p.preset.(http.RoundTripper)
	if err := p.config.Check(preset.Defaults(), inProcess); err != nil {
		return line.Errf("provider '%s': %w", p.config.Name, err)
	}
	return nil
}
