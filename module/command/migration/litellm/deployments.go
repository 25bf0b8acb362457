package litellm

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
)

// deployment is one entry of model_list: a target of the name.
type deployment struct {
	params, info *migration.Section
	report       *migration.Report

	name     string // of clients
	provider *migration.Provider
	model    string // of the provider
	lines    []migration.Line
	share    float64 // of the requests; 0 if the file gives none
	order    float64 // of the step; 0 if the file gives none
}

// environ begins a value that is a variable of the environment.
const environ = "os.environ/"

// note adds a note about the deployment.
func (d *deployment) note(kind migration.Kind, text string) {
	d.report.Add(kind, d.params.Place, "%s: %s", d.name, text)
}

// unserved are the modes of model_info whose endpoints the gateway does not have.
var unserved = map[string]bool{"realtime": true, "batch": true}

// deployments returns the entries of model_list that have a counterpart. The others are left
// out of the gateway, each with its reason.
func (s *source) deployments() (all []*deployment) {
	credentials := map[string]*migration.Section{}
	for _, c := range s.file.List("credential_list") {
		credentials[c.Text("credential_name")] = c.Inner("credential_values")
	}
	for _, entry := range s.file.List("model_list") {
		d := &deployment{params: entry.Inner("litellm_params"), info: entry.Inner("model_info"), report: &s.report, name: entry.Text("model_name")}
		if shared := credentials[d.params.Text("litellm_credential_name")]; shared != nil {
			for name, value := range shared.Values {
				if d.params.Values[name] == nil {
					d.params.Values[name] = value
				}
			}
		}
		if reason := s.add(d); reason != "" {
			s.gateway.Left = append(s.gateway.Left, migration.Left{Name: d.name, Reason: reason})
			d.note(migration.Lost, reason)
			continue
		}
		all = append(all, d)
		s.groups(d)
		for _, name := range d.params.Unread() {
			d.note(migration.Lost, name+": "+reasonFor("litellm_params."+name))
		}
	}
	return all
}

// add adds the provider of a deployment, if it has a counterpart; otherwise it returns the
// reason.
func (s *source) add(d *deployment) (reason string) {
	switch mode := d.info.Text("mode"); {
	case d.name == "" || strings.ContainsAny(d.name, " \t\n") || len(d.name) > 256:
		return fmt.Sprintf("a name has 1 to 256 characters without spaces; %q would be one", strings.Join(strings.Fields(d.name), "-"))
	case unserved[mode]:
		return "the gateway has no endpoint for the mode " + mode
	}
	p, reason := d.serve()
	if reason != "" {
		return reason
	}
	if strings.Contains(d.name, "*") {
		switch {
		case d.name == "*" && d.model == "*":
			return "a provider without models serves all names: write one by hand"
		case d.model != d.name:
			return "a pattern that renames has no counterpart: write a model block for each name"
		}
		d.model = ""
	}
	d.options(p)
	d.shares()
	d.lines = d.price()
	d.provider = s.provider(p)
	return ""
}

// options adds the words that come of the parameters of a deployment to its provider.
func (d *deployment) options(p *migration.Provider) {
	p.Lines = append(p.Lines, migration.Words("models", "off"))
	for _, option := range [...]struct{ parameter, word, unit string }{
		{"max_parallel_requests", "max_running", ""},
		{"timeout", "response_header_timeout", "s"},
		{"stream_timeout", "first_event_timeout", "s"},
	} {
		if n, ok := d.params.Number(option.parameter); ok && n > 0 {
			p.Lines = append(p.Lines, migration.Words(option.word, migration.Decimal(n)+option.unit))
		}
	}
	headers := d.params.Inner("extra_headers")
	for _, name := range headers.Names() {
		if value := headers.Text(name); strings.EqualFold(name, "Authorization") || strings.HasSuffix(strings.ToLower(name), "key") {
			d.note(migration.Lost, "the header "+name+" may be a credential: api_key sends those")
		} else {
			p.Lines = append(p.Lines, migration.Words("header_up", name, value))
		}
	}
}

// shares sets the share of a deployment and its place in the order.
func (d *deployment) shares() {
	d.order, _ = d.params.Number("order")
	weight, weighted := d.params.Number("weight")
	rpm, byRequests := d.params.Number("rpm")
	tpm, byTokens := d.params.Number("tpm")
	switch {
	case weighted:
		d.share = weight
	case byRequests:
		d.share = rpm
	case byTokens:
		d.share = tpm
	}
	if byRequests || byTokens {
		d.note(migration.Changed, "rpm and tpm bound nothing: they are shares of the requests where there is no weight")
	}
}

// provider returns the provider with the same words, which is added if there is none.
func (s *source) provider(p *migration.Provider) *migration.Provider {
	names := map[string]bool{}
	for _, known := range s.gateway.Providers {
		if known.Preset == p.Preset && slices.Equal(known.APIKeys, p.APIKeys) && reflect.DeepEqual(known.Lines, p.Lines) {
			return known
		}
		names[known.Name] = true
	}
	first := p.Name
	for n := 2; names[p.Name]; n++ {
		p.Name = fmt.Sprintf("%s-%d", first, n)
	}
	s.gateway.Providers = append(s.gateway.Providers, p)
	return p
}

// reference returns a parameter that is a secret as a reference. A secret in clear text is
// replaced by the variable, which the operator has to set.
func (d *deployment) reference(parameter, variable string) []migration.Reference {
	value := d.params.Text(parameter)
	name, isVariable := strings.CutPrefix(value, environ)
	switch {
	case isVariable:
		return []migration.Reference{migration.Env(name)}
	case strings.EqualFold(value, "none"):
		return nil
	case value == "" && variable == "":
		return nil
	case value != "":
		if variable == "" {
			variable = strings.ToUpper(strings.ReplaceAll(nameOf(d.name), "-", "_")) + "_API_KEY"
		}
		d.note(migration.Changed, parameter+" is a secret in clear text: set it as the variable "+variable)
	}
	return []migration.Reference{migration.Env(variable)}
}

// columns are the parameters of prices and the columns of our table, with the number of what
// the parameter is the price for that the price of the column is for.
var columns = []struct {
	parameter, column string
	number            int64
}{
	{"input_cost_per_token", "input", 1_000_000},
	{"output_cost_per_token", "output", 1_000_000},
	{"cache_read_input_token_cost", "cache_read", 1_000_000},
	{"cache_creation_input_token_cost", "cache_write", 1_000_000},
	{"cache_creation_input_token_cost_above_1hr", "cache_write_1h", 1_000_000},
	{"input_cost_per_token_above_200k_tokens", "input_above", 1_000_000},
	{"output_cost_per_token_above_200k_tokens", "output_above", 1_000_000},
	{"cache_read_input_token_cost_above_200k_tokens", "cache_read_above", 1_000_000},
	{"cache_creation_input_token_cost_above_200k_tokens", "cache_write_above", 1_000_000},
	{"input_cost_per_image_token", "image_input", 1_000_000},
	{"cache_read_input_image_token_cost", "image_cache_read", 1_000_000},
	{"output_cost_per_image_token", "image_output", 1_000_000},
	{"input_cost_per_audio_token", "audio_input", 1_000_000},
	{"cache_read_input_audio_token_cost", "audio_cache_read", 1_000_000},
	{"output_cost_per_audio_token", "audio_output", 1_000_000},
	{"input_cost_per_image", "image", 1},
	{"output_cost_per_image", "image", 1},
	{"input_cost_per_second", "minute", 60},
	{"input_cost_per_character", "characters", 1_000_000},
}

// price returns the price of a deployment, if the file has one, or names the model of Azure
// whose price it is.
func (d *deployment) price() []migration.Line {
	words := []string{"price"}
	for _, c := range columns {
		value := d.params.Text(c.parameter)
		if value == "" {
			value = d.info.Text(c.parameter)
		} else {
			d.info.Take(c.parameter)
		}
		amount, ok := new(big.Rat).SetString(value)
		if value == "" || !ok || amount.Sign() == 0 && c.number < 1_000_000 || slices.Contains(words, c.column) {
			continue
		}
		if strings.HasSuffix(c.column, "_above") && !slices.Contains(words, "edge") {
			words = append(words, "edge", ">200000")
		}
		amount.Mul(amount, big.NewRat(c.number, 1))
		words = append(words, c.column, strings.TrimRight(strings.TrimRight(amount.FloatString(6), "0"), "."))
	}
	if len(words) > 1 {
		return []migration.Line{{Words: words}}
	}
	vendor, base, ok := strings.Cut(d.info.Text("base_model"), "/")
	if !ok {
		return nil
	}
	known := prices.Builtin().Find(vendor, base, time.Now())
	if known == nil {
		d.note(migration.Lost, "the table of prices has no model "+base+" of "+vendor)
		return nil
	}
	const ofTokens = 3 // which are stated also if they are 0
	for i, c := range [...]struct {
		column string
		rate   prices.Rate
		unit   float64 // in pico units
	}{
		{"input", known.Base.Fresh, 1e6}, {"cache_read", known.Base.CacheRead, 1e6}, {"output", known.Base.Answer, 1e6},
		{"image", known.Base.Image, 1e12}, {"minute", known.Base.Minute, 1e12}, {"characters", known.Base.Character, 1e6},
	} {
		if i < ofTokens || c.rate > 0 {
			words = append(words, c.column, migration.Decimal(float64(c.rate)/c.unit))
		}
	}
	d.note(migration.Changed, "the price is that of base_model "+base+" at the time of the import")
	return []migration.Line{{Words: words}}
}
