package newapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
)

// models adds a model for each name of the channels. A name that has different channels in
// different groups blocks the import.
func (s *source) models() {
	byName, groupsOf := map[string][]*channel{}, map[string]map[string]string{}
	for _, c := range s.channels {
		for _, name := range c.models {
			byName[name] = append(byName[name], c)
			for _, group := range c.groups {
				if groupsOf[name] == nil {
					groupsOf[name] = map[string]string{}
				}
				groupsOf[name][group] += " " + c.row.Text("id")
			}
		}
	}
	ratios := newRatios(s)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		channels := byName[name]
		if s.group != "" {
			channels = slices.DeleteFunc(slices.Clone(channels), func(c *channel) bool { return !slices.Contains(c.groups, s.group) })
		} else if first, other, differ := differing(groupsOf[name]); differ {
			s.blocked = append(s.blocked, fmt.Errorf("the model %q has other channels in the group %q than in %q: choose the group of the site with --group", name, first, other))
			continue
		}
		if suffix := endings[strings.TrimPrefix(name, base(name))]; suffix != "" && byName[base(name)] != nil {
			s.report.Add(migration.Lost, "models", "%s: %s; clients send it in their requests", name, suffix)
			continue
		}
		if len(channels) > 0 {
			s.model(name, channels, ratios)
			for _, group := range slices.Sorted(maps.Keys(groupsOf[name])) {
				s.served[group] = append(s.served[group], name)
			}
		}
	}
	if s.group != "" {
		used := map[string]bool{}
		for _, m := range s.gateway.Models {
			for _, t := range m.Targets {
				used[t.Provider] = true
			}
		}
		s.gateway.Providers = slices.DeleteFunc(s.gateway.Providers, func(p *migration.Provider) bool { return !used[p.Name] })
	}
}

// differing returns two groups whose channels differ.
func differing(channels map[string]string) (first, other string, differ bool) {
	groups := slices.Sorted(maps.Keys(channels))
	for _, group := range groups {
		if channels[group] != channels[groups[0]] {
			return groups[0], group, true
		}
	}
	return "", "", false
}

// endings are the endings of names that new-api takes for an effort.
var endings = map[string]string{
	"-thinking": "the ending asks for reasoning", "-nothinking": "the ending asks for no reasoning",
	"-high": "the ending is an effort", "-low": "the ending is an effort", "-max": "the ending is an effort",
}

// base returns a name without an ending.
func base(name string) string {
	for ending := range endings {
		if stem, ok := strings.CutSuffix(name, ending); ok {
			return stem
		}
	}
	return name
}

// model adds a model with its channels.
func (s *source) model(name string, channels []*channel, ratios *ratios) {
	var shares []migration.Share
	for _, c := range channels {
		upstream := name
		for range 16 { // chains are followed, and circles end
			next := c.upstream[upstream]
			if next == "" || next == upstream {
				break
			}
			upstream = next
		}
		if c.rename != nil {
			upstream = c.rename(upstream)
		}
		t := migration.Target{Provider: c.provider.Name, Model: upstream, Lines: ratios.price(name, c.provider.Preset, upstream)}
		shares = append(shares, migration.Share{Target: t, Weight: c.weight, Order: -c.priority})
	}
	m := &migration.Model{Name: name, Attempts: int(min(max(s.option("RetryTimes"), 0), 1000)) + 1}
	var flattened bool
	if m.Targets, flattened = migration.Steps(shares); flattened {
		s.report.Add(migration.Changed, "models", "%s: channels of lower priority are tried one after the other", name)
	}
	s.gateway.Models = append(s.gateway.Models, m)
}

// ratios are the prices of models, in units of 2 USD for a million tokens.
type ratios struct {
	source                                *source
	model, completion, cacheRead, written map[string]float64
	noted                                 map[string]bool
}

func newRatios(s *source) *ratios {
	return &ratios{s, s.ratios("ModelRatio"), s.ratios("CompletionRatio"), s.ratios("CacheRatio"), s.ratios("CreateCacheRatio"), map[string]bool{}}
}

// price returns the price of a model, if its ratios are saved and differ from the table of the
// gateway. Ratios that are not saved are those of a version of the product, which are not
// guessed.
func (r *ratios) price(name, preset, upstream string) []migration.Line {
	input, saved := r.model[name]
	if !saved {
		return nil
	}
	known := prices.Builtin().Find(preset, upstream, time.Now())
	output, complete := r.completion[name]
	if !complete {
		if known == nil && !r.noted[name] {
			r.noted[name] = true
			r.source.report.Add(migration.Lost, "options CompletionRatio", "%s has none that is saved: its price is unknown, and limits with a budget refuse it", name)
		}
		return nil
	}
	input *= 2
	output *= input
	million := func(rate prices.Rate) float64 { return float64(rate) / 1e6 }
	if known != nil && million(known.Base.Fresh) == input && million(known.Base.Answer) == output {
		return nil
	}
	words := []string{"price", "input", migration.Decimal(input), "output", migration.Decimal(output)}
	if ratio, ok := r.cacheRead[name]; ok {
		words = append(words, "cache_read", migration.Decimal(input*ratio))
	}
	if ratio, ok := r.written[name]; ok {
		words = append(words, "cache_write", migration.Decimal(input*ratio))
	}
	return []migration.Line{migration.Words(words...)}
}
