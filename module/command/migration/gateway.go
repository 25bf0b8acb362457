package migration

import (
	"fmt"
	"slices"
	"strings"
)

// Gateway is the configuration of a gateway, in the order in which it is written.
type Gateway struct {
	Site      string // its address, such as ai.example.com
	Global    []Line // words of the global option ai_gateway
	Providers []*Provider
	Models    []*Model
	Limits    []Limit
	SiteWords []Line // words of the directive
	Left      []Left // what was left out, as comments

	Keys     []Key     // of the file of keys
	Users    []User    // of the store
	Openings []Opening // of the ledger
	Secrets  []Secret  // of the environment
}

// Line is a word of a Caddyfile with its values, which are text and are written with quotes
// where they need them, with references behind them, and with lines of a block.
type Line struct {
	Comment    string // above the line; "" for none
	Words      []string
	References []Reference
	Block      []Line
}

// Words returns a line without a block.
func Words(words ...string) Line { return Line{Words: words} }

// Provider is a provider with its API keys.
type Provider struct {
	Comment      string
	Name, Preset string
	APIKeys      []Reference
	Lines        []Line
}

// Model is a name of clients with its targets, in the order in which they are tried.
type Model struct {
	Comment  string
	Name     string
	Targets  []Target
	Attempts int      // how many of them are tried; 0 for all
	Order    []string // the words of order; none for that of the targets
}

// Target is a target of a model. Successive targets with weights form a step.
type Target struct {
	Provider, Model string // Model is empty if the provider gets the client's name
	Weight          int    // 0 for a step of its own
	Lines           []Line
}

// name returns the target as it is written behind to.
func (t Target) name() string {
	if t.Model == "" {
		return t.Provider
	}
	return t.Provider + "/" + t.Model
}

// Same reports whether two targets are written as the same text, which a model may do once.
func (t Target) Same(other Target) bool { return t.name() == other.name() }

// Limit is a limit with its words.
type Limit struct {
	Name  string
	Lines []Line
}

// Within returns the names of a limit and of the limits within it.
func (g *Gateway) Within(limit string) []string {
	all := []string{limit}
	for _, l := range g.Limits { // a limit comes before those within it
		for _, line := range l.Lines {
			if line.Words[0] == "within" && slices.Contains(all, line.Words[1]) {
				all = append(all, l.Name)
			}
		}
	}
	return all
}

// Left is something of the source that has no counterpart, and the reason.
type Left struct{ Name, Reason string }

// Caddyfile returns the gateway as a Caddyfile, formatted as `caddy fmt` does. Clean must have
// left out what cannot be written.
func (g *Gateway) Caddyfile() string {
	global := slices.Clone(g.Global)
	for _, p := range g.Providers {
		words := []string{"provider", p.Name}
		if p.Preset != p.Name {
			words = append(words, p.Preset)
		}
		global = append(global, Line{Comment: p.Comment, Words: words, References: p.APIKeys, Block: p.Lines})
	}
	for _, m := range g.Models {
		global = append(global, m.line())
	}
	for _, l := range g.Limits {
		global = append(global, Line{Words: []string{"limit", l.Name}, Block: l.Lines})
	}
	for _, l := range g.Left {
		global = append(global, Line{Comment: "left out: " + l.Name + ": " + l.Reason})
	}
	var b strings.Builder
	write(&b, 0, Line{Block: []Line{{Words: []string{"ai_gateway"}, Block: global}}})
	b.WriteByte('\n')
	write(&b, 0, Line{Words: []string{g.Site}, Block: []Line{{Words: []string{"ai_gateway"}, Block: g.SiteWords}}})
	return b.String()
}

// line returns the block of a model.
func (m *Model) line() Line {
	var block []Line
	for i := range m.Targets {
		t := &m.Targets[i]
		words := []string{"to", t.name()}
		if t.Weight > 0 {
			words = append(words, "weight", fmt.Sprint(t.Weight))
		}
		block = append(block, Line{Words: words, Block: t.Lines})
	}
	if len(m.Order) > 0 {
		block = append(block, Words(append([]string{"order"}, m.Order...)...))
	}
	if m.Attempts > 0 && m.Attempts < len(m.Targets) {
		block = append(block, Words("attempts", fmt.Sprint(m.Attempts)))
	}
	return Line{Comment: m.Comment, Words: []string{"model", m.Name}, Block: block}
}

// write appends a line at a depth of blocks.
func write(b *strings.Builder, depth int, l Line) {
	indent := strings.Repeat("\t", depth)
	if l.Comment != "" {
		for text := range strings.Lines(l.Comment) {
			b.WriteString(indent + "# " + OneLine(strings.TrimSpace(text)) + "\n")
		}
	}
	if len(l.Words) == 0 && len(l.Block) == 0 {
		return
	}
	var parts []string
	for _, word := range l.Words {
		parts = append(parts, quoted(word))
	}
	for _, reference := range l.References {
		if reference != "" {
			parts = append(parts, string(reference))
		}
	}
	b.WriteString(indent)
	if len(l.Block) > 0 {
		parts = append(parts, "{")
	}
	b.WriteString(strings.Join(parts, " ") + "\n")
	for _, inner := range l.Block {
		write(b, depth+1, inner)
	}
	if len(l.Block) > 0 {
		b.WriteString(indent + "}\n")
	}
}
