package state

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/labels"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Configuration is a running configuration.
type Configuration struct {
	Providers []Provider `json:"providers"`
	Models    []Model    `json:"models"`
	Limits    []Limit    `json:"limits"`
	Guards    []Guard    `json:"guards"`
	Tags      []string   `json:"tags"`     // the names that tags may have
	Customer  []string   `json:"customer"` // the headers and fields that name the customer
	Modules   []Module   `json:"modules"`  // of Go, in the running build
}

// Module is a module of Go.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Provider is a provider block. Durations are in the notation of Go, "" for the default.
type Provider struct {
	Name      string             `json:"name"`
	Preset    string             `json:"preset"`
	BaseURL   string             `json:"base_url"` // "" for that of the preset
	Formats   []translate.Format `json:"formats"`
	APIKeys   []string           `json:"api_keys"` // references
	Models    []string           `json:"models"`   // patterns; none for every name that is not claimed otherwise
	Targets   bool               `json:"targets_only"`
	ModelList string             `json:"model_list"`
	ListedAs  string             `json:"listed_as"`
	Traits    map[string]string  `json:"traits"`
	Calls
	Pooled bool `json:"pooled"` // reverse_proxy chooses among several addresses
}

// Calls are the bounds of the calls of a provider.
type Calls struct {
	Cooldown   string `json:"cooldown"`
	FailRate   int    `json:"fail_rate"`
	MaxRunning int    `json:"max_running"` // 0 for no bound
	Queue      string `json:"queue,omitempty"`

	Limit []string `json:"limit"` // rules as in the Caddyfile
}

// Model is a model block.
type Model struct {
	Name       string            `json:"name"`
	Targets    []ModelTarget     `json:"targets"`
	Order      string            `json:"order,omitempty"` // as in the Caddyfile; empty for that of the targets
	SplitBy    string            `json:"split_by,omitempty"`
	Mirror     string            `json:"mirror,omitempty"`
	FallbackOn []string          `json:"fallback_on"`
	Attempts   int               `json:"attempts"` // 0 for all
	Hedge      string            `json:"hedge,omitempty"`
	Traits     map[string]string `json:"traits"`
}

// ModelTarget is a target of a model block.
type ModelTarget struct {
	Provider string            `json:"provider"`
	Model    string            `json:"upstream_model"` // "" for the name that the client uses
	Weight   int               `json:"weight"`
	Traits   map[string]string `json:"traits"`

	Limit []string `json:"limit"` // rules as in the Caddyfile
}

// Limit is a limit block.
type Limit struct {
	Name   string          `json:"name"`
	Per    aigateway.Scope `json:"per"`
	Parent string          `json:"within"`
	Rules  []string        `json:"rules"` // lines of the block
}

// Guard is a guard block. Empty lists are those of the default.
type Guard struct {
	Name            string                `json:"name"`
	Module          string                `json:"module"`
	Parts           []string              `json:"on"`
	Check           []aigateway.GuardKind `json:"check"`
	Models          []aigateway.Pattern   `json:"models"`
	Keys            []aigateway.Pattern   `json:"keys"`
	AllowReferences bool                  `json:"allow_references"`
	Rules           []string              `json:"rules"` // lines of the module; none if it shows none
}

// NewConfiguration returns an empty configuration of a build.
func NewConfiguration(build *debug.BuildInfo) *Configuration {
	c := &Configuration{[]Provider{}, []Model{}, []Limit{}, []Guard{}, []string{}, []string{}, []Module{}}
	for _, m := range build.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c.Modules = append(c.Modules, Module{m.Path, m.Version})
	}
	return c
}

// Add adds the blocks of the global option or of a site.
func (c *Configuration) Add(b Blocks) {
	for _, p := range b.Providers {
		c.Providers = append(c.Providers, providerOf(p))
	}
	for _, m := range b.Models {
		c.Models = append(c.Models, modelOf(m))
	}
	for _, l := range b.Limits {
		c.Limits = append(c.Limits, Limit{l.Name, l.Per, l.Parent, append(ruleLines(&l.LimitRules), moreLines(l)...)})
	}
}

// ruleLines returns rules as lines of a limit block.
func ruleLines(r *aigateway.LimitRules) []string {
	lines := []string{}
	add := func(word, value string) {
		if value != "" {
			lines = append(lines, word+" "+value)
		}
	}
	add("requests", r.Requests.Notation())
	add("tokens", r.Tokens.Notation())
	if r.Concurrent > 0 {
		add("concurrent", strconv.FormatInt(r.Concurrent, 10))
	}
	add("budget", r.Budget.Notation())
	if r.AllowUnpriced {
		add("unpriced", "allow")
	}
	return lines
}

// moreLines returns the models that a limit counts, its priority and its WebSockets, as lines of the Caddyfile.
func moreLines(l *limits.Limit) (lines []string) {
	if len(l.Models) > 0 {
		words := []string{"models"}
		for _, pattern := range l.Models {
			words = append(words, string(pattern))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	if l.Priority != "" {
		lines = append(lines, "priority "+l.Priority)
	}
	if l.Sockets > 0 {
		lines = append(lines, "sockets "+strconv.Itoa(l.Sockets))
	}
	return lines
}

// callRules returns the rules of the limit of a provider or a target, none without one.
func callRules(r *aigateway.LimitRules) []string {
	if r == nil {
		return []string{}
	}
	return ruleLines(r)
}

// addGuards adds the guards of a site. Those that two sites have alike occur once.
func (c *Configuration) addGuards(guards iter.Seq2[*guardrails.Config, aigateway.Guard]) {
	for config, guard := range guards {
		shown := guardOf(config, guard)
		if !slices.ContainsFunc(c.Guards, func(other Guard) bool { return reflect.DeepEqual(other, shown) }) {
			c.Guards = append(c.Guards, shown)
		}
	}
}

// addLabels adds the names of the labels of a site, each once.
func (c *Configuration) addLabels(names *labels.Names) {
	for _, name := range names.Tags {
		c.Tags = addOnce(c.Tags, name)
	}
	for _, source := range names.Customer {
		c.Customer = addOnce(c.Customer, string(source))
	}
}

func addOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

func guardOf(g *guardrails.Config, guard aigateway.Guard) Guard {
	shown := Guard{
		Name: g.Name, Parts: append([]string{}, g.Parts...), Check: append([]aigateway.GuardKind{}, g.Check...),
		Models: append([]aigateway.Pattern{}, g.Models...), Keys: append([]aigateway.Pattern{}, g.Keys...),
		AllowReferences: g.AllowReferences, Rules: []string{},
	}
	if module, ok := guard.(caddy.Module); ok {
		shown.Module = module.CaddyModule().ID.Name()
	}
	if described, ok := guard.(aigateway.DescribedGuard); ok {
		shown.Rules = append(shown.Rules, described.Rules()...)
	}
	return shown
}

func providerOf(p *catalog.ProviderConfig) Provider {
	return Provider{
		Name: p.Name, Preset: p.PresetName(), BaseURL: p.BaseURL, Formats: append([]translate.Format{}, p.Formats...),
		APIKeys: references(p.APIKeys), Models: append([]string{}, p.Models...), Targets: p.DisableModels, ModelList: p.ModelList,
		Calls: Calls{duration(p.Cooldown), p.FailRate, p.MaxRunning, p.Queue.String(), callRules(p.Limit)}, ListedAs: p.ListedAs,
		Traits: traits(p.Traits), Pooled: p.ReverseProxyRaw != nil,
	}
}

func modelOf(m *catalog.ModelConfig) Model {
	shown := Model{Name: m.Name, Order: orderOf(m), SplitBy: m.SplitBy, Targets: []ModelTarget{}, FallbackOn: append([]string{}, m.FallbackOn...), Attempts: m.Attempts, Hedge: m.HedgeConfig.String(), Traits: traits(m.Traits)}
	for _, t := range m.Targets {
		shown.Targets = append(shown.Targets, ModelTarget{t.Provider, t.Model, t.Weight, traits(t.Traits), callRules(t.Limit)})
	}
	if m.Mirror != nil {
		shown.Mirror = m.Mirror.String()
	}
	return shown
}

// orderOf returns the order of a model as in the Caddyfile, "" for that of its targets.
func orderOf(m *catalog.ModelConfig) string {
	if m.OrderWithin == 0 {
		return m.Order
	}
	return fmt.Sprintf("%s within %d%%", m.Order, m.OrderWithin)
}

// traits returns a map that is not nil. The values of traits are words of a fixed list.
func traits(t map[string]string) map[string]string {
	if t == nil {
		return map[string]string{}
	}
	return t
}

func duration(d caddy.Duration) string {
	if d == 0 {
		return ""
	}
	return time.Duration(d).String()
}

// hidden is shown in place of an API key that is no reference.
const hidden = "***"

// references returns API keys, those that are no references hidden.
func references(keys []string) []string {
	shown := append([]string{}, keys...)
	for i, key := range shown {
		if !strings.HasPrefix(key, "{") || !strings.HasSuffix(key, "}") || strings.Count(key, "{") != 1 {
			shown[i] = hidden
		}
	}
	return shown
}

// Key is a key of the configuration or of a keys file. Nothing of its value is shown.
type Key struct {
	ID       string     `json:"id"`
	Owner    string     `json:"user"`
	Models   []string   `json:"models"`
	Networks []string   `json:"from"`
	Limit    string     `json:"limit"`
	Tags     []string   `json:"tags"` // team=search
	Disabled bool       `json:"disabled"`
	Expires  *time.Time `json:"expires"` // null: never
	Sites    []string   `json:"sites"`   // the hosts, or addresses, of the sites with the key
}

// KeyOf returns a key of a site with these hosts.
func KeyOf(k *aigateway.Key, hosts []string) Key {
	shown := Key{Sites: append([]string{}, hosts...), ID: k.ID, Owner: k.Owner, Models: []string{}, Networks: []string{}, Limit: k.Limit, Tags: []string{}, Disabled: k.Disabled}
	for _, tag := range k.Tags {
		shown.Tags = append(shown.Tags, tag.Name+"="+tag.Value)
	}
	for _, m := range k.Models {
		shown.Models = append(shown.Models, string(m))
	}
	for _, network := range k.Networks {
		shown.Networks = append(shown.Networks, network.String())
	}
	if !k.Expires.IsZero() {
		shown.Expires = new(k.Expires.UTC())
	}
	return shown
}

// pageOfKeys returns a page of keys, by their ids. A key of several sites occurs once, with its
// sites sorted: Caddy orders servers by their ports, which may change at each start.
func pageOfKeys(all []Key, page Page) api.Page[Key] {
	slices.SortStableFunc(all, func(a, b Key) int { return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Owner, b.Owner)) })
	keys := all[:0]
	for _, key := range all {
		if last := len(keys) - 1; last >= 0 && keys[last].equals(key) {
			keys[last].Sites = append(keys[last].Sites, key.Sites...)
		} else {
			keys = append(keys, key)
		}
	}
	for i := range keys {
		slices.Sort(keys[i].Sites)
	}
	return PageOf(keys, page, func(k *Key) string { return k.ID })
}

// equals reports whether two keys differ at most in their sites.
func (k Key) equals(other Key) bool {
	k.Sites, other.Sites = nil, nil
	return reflect.DeepEqual(k, other)
}
