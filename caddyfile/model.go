package caddyfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
)

// model is a catalog.ModelConfig that is being read.
type model struct {
	*catalog.ModelConfig
	config *config
}

var modelWords = withTraits(words[*model]{
	"to":          {read: readTarget, repeat: true},
	"price":       {read: readTargetPrice(func(m *model) *[]map[string]string { return &m.Prices }), repeat: true},
	"order":       {read: readOrder},
	"split_by":    {read: readSplitBy},
	"mirror":      {read: readMirror},
	"fallback_on": {read: readFallbackOn, repeat: true},
	"cache":       {read: readModelCache},
	"hedge":       {read: readHedge},
	"attempts": {read: func(d *cf.Dispenser, m *model) (err error) {
		m.Attempts, err = readCount(d)
		return err
	}},
}, func(m *model) *map[string]string { return &m.Traits })

var targetWords = withTraits(words[*catalog.TargetConfig]{
	"price": {read: readTargetPrice(func(t *catalog.TargetConfig) *[]map[string]string { return &t.Prices }), repeat: true},
	"if":    {read: readCondition},
	"limit": {read: readCallLimit(func(t *catalog.TargetConfig) **aigateway.LimitRules { return &t.Limit })},
}, func(t *catalog.TargetConfig) *map[string]string { return &t.Traits })

// readModel reads a model: a name or a pattern, in which "*" matches any characters, and
// its targets. The targets are tried in order; successive targets with weights share the
// requests. Syntax:
//
//	model <pattern> {
//		to <provider>[/<the provider's model name>] [weight <number>] {
//			<name of a trait> <value...>
//			price <column> <value> [<column> <value>...]
//			if `<CEL expression>`
//			limit { <rules: see readCallLimit> }
//		}
//		<name of a trait> <value...>
//		price <column> <value> [<column> <value>...]
//		order cost | latency [within <percent>%]
//		split_by customer | key | session
//		mirror <provider>[/<the provider's model name>] [<percent>%]
//		fallback_on <status | 4xx | 5xx | timeout | unreachable | context_length | content_policy | budget | default...>
//		hedge <duration> [<percent>%]
//		attempts <number>
//		cache [<duration>] { ... }
//	}
//
// A trait or a price of a target overrides that of the model. A trait or a price of a
// model overrides that of the provider. See readModelCache for the block of the cache.
func readModel(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	name, err := readOne(d)
	if err != nil {
		return err
	}
	if _, err := aigateway.ParsePattern(name); err != nil {
		return d.WrapErr(err)
	}
	sameName := func(other *catalog.ModelConfig) bool { return other.Name == name }
	if slices.ContainsFunc(slices.Concat(c.inherited.Models, c.gateway.Models), sameName) {
		return d.Errf("model '%s' is defined twice", name)
	}
	m := &model{&catalog.ModelConfig{Name: name}, c}
	if err := modelWords.readBlock(d, "model", m, nil); err != nil {
		return err
	}
	if len(m.Targets) == 0 {
		return line.Errf("model '%s' needs at least one target: to <provider>", name)
	}
	c.gateway.Models = append(c.gateway.Models, m.ModelConfig)
	if err := c.checkClaims(); err != nil {
		return line.WrapErr(err)
	}
	return nil
}

func readTarget(d *cf.Dispenser, m *model) error {
	text, weight, err := readWeighted(d)
	if err != nil {
		return err
	}
	provider, model, err := m.readName(d, text)
	if err != nil {
		return err
	}
	same := func(t catalog.TargetConfig) bool { return t.Provider == provider && t.Model == model }
	if slices.ContainsFunc(m.Targets, same) {
		return d.Errf("target '%s' is given twice", text)
	}
	parsed := catalog.TargetConfig{Provider: provider, Model: model, Weight: weight}
	err = targetWords.readBlock(d, "to", &parsed, nil)
	m.Targets = append(m.Targets, parsed)
	return err
}

// readName reads the name of a target. It is checked later that the provider is defined.
func (m *model) readName(d *cf.Dispenser, text string) (provider, model string, err error) {
	provider, model, named := strings.Cut(text, "/")
	if err := aigateway.CheckProviderName(provider); err != nil {
		return "", "", d.WrapErr(err)
	}
	if named {
		pattern, err := aigateway.ParsePattern(model)
		if err != nil || !pattern.Exact() {
			return "", "", d.Errf("a target is <provider> or <provider>/<model>, with the name of one model; got '%s'", text)
		}
	}
	m.config.targets = append(m.config.targets, target{m.Name, provider, *d})
	return provider, model, nil
}

func readSplitBy(d *cf.Dispenser, m *model) (err error) {
	if m.SplitBy, err = readOne(d); err != nil {
		return err
	}
	if err := catalog.CheckSplitBy(m.SplitBy); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// readMirror reads the target that gets a copy of some requests, and their share.
func readMirror(d *cf.Dispenser, m *model) error {
	args := d.RemainingArgs()
	if len(args) != 1 && len(args) != 2 {
		return d.Err("a mirror is: mirror <provider>[/<model>] [<percent>%]")
	}
	provider, model, err := m.readName(d, args[0])
	if err != nil {
		return err
	}
	m.Mirror = &catalog.MirrorConfig{Provider: provider, Model: model}
	if len(args) == 2 {
		m.Mirror.Share, err = readShare(d, "a mirror", args[1])
	}
	return err
}

// readShare returns a percentage of requests.
func readShare(d *cf.Dispenser, subject, text string) (float64, error) {
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(share > 0 && share <= 100) {
		return 0, d.Errf("the share of %s is a percentage above 0 and at most 100, such as 5%%, not '%s'", subject, text)
	}
	return share, nil
}

// readHedge reads after which time a second target is called as well, and for which share of the requests.
func readHedge(d *cf.Dispenser, m *model) error {
	args := d.RemainingArgs()
	if len(args) != 1 && len(args) != 2 {
		return d.Err("a hedge is: hedge <duration> [<percent>%]")
	}
	wait, err := caddy.ParseDuration(args[0])
	if err != nil || wait <= 0 {
		return d.Errf("hedge needs a duration above zero such as 2s, not '%s'", args[0])
	}
	m.Hedge = caddy.Duration(wait)
	if len(args) == 2 {
		m.HedgeShare, err = readShare(d, "hedges", args[1])
	}
	return err
}

// readCondition reads the condition of a target. It is one argument, since its own quotes would be lost
// between several. {request.name} abbreviates a placeholder of requests.
func readCondition(d *cf.Dispenser, t *catalog.TargetConfig) error {
	args := d.RemainingArgs()
	if len(args) != 1 {
		return d.Err("a condition is one CEL expression in backquotes: if `{request.input_tokens} > 100000`")
	}
	t.If = strings.ReplaceAll(args[0], "{request.", "{"+conditions.Prefix)
	return nil
}

// readWeighted reads a target and its weight, 0 if it has none.
func readWeighted(d *cf.Dispenser) (target string, weight int, err error) {
	args := d.RemainingArgs()
	if len(args) != 1 && (len(args) != 3 || args[1] != "weight") {
		return "", 0, d.Err("a target is: to <provider>[/<model>] [weight <number>]")
	}
	if len(args) == 3 {
		if weight, err = strconv.Atoi(args[2]); err != nil || weight < 1 {
			return "", 0, d.Errf("weight needs a whole number above zero, not '%s'", args[2])
		}
	}
	return args[0], weight, nil
}

// readOrder reads what decides the order of targets.
func readOrder(d *cf.Dispenser, m *model) error {
	args := d.RemainingArgs()
	if len(args) != 1 && (len(args) != 3 || args[1] != "within") {
		return d.Err("an order is: order cost|latency [within <percent>%]")
	}
	m.Order = args[0]
	if len(args) == 3 {
		var err error
		if m.OrderWithin, err = strconv.Atoi(strings.TrimSuffix(args[2], "%")); err != nil || m.OrderWithin < 1 {
			return d.Errf("within needs a whole percentage above zero, such as 20%%, not '%s'", args[2])
		}
	}
	if _, err := catalog.NewOrder(m.Order, m.OrderWithin); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

func readFallbackOn(d *cf.Dispenser, m *model) (err error) {
	if m.FallbackOn, err = readList(d, m.FallbackOn); err != nil {
		return err
	}
	for _, class := range m.FallbackOn {
		if err := catalog.CheckFallbackOn(class); err != nil {
			return d.WrapErr(err)
		}
	}
	return nil
}
