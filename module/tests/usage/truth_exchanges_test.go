package usage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// class is a kind of exchange.
type class string

const (
	wholeAnswer class = "whole"                // one call, whole, with usage
	unreported  class = "whole, without usage" // whole, but the provider reports nothing
	compacted   class = "compacted"            // the provider lists further runs
	unknown     class = "an unknown tier"      // the answer names a tier whose factor is unknown
	several     class = "several calls"        // a fan-out of whole calls
	oneRefused  class = "several calls, the last refused"
	oneCut      class = "several calls, the last cut"
	cut         class = "cut"  // the provider breaks a stream off
	leftMidway  class = "left" // the client leaves a stream in the middle
	severalLeft class = "several calls, left"
	refused     class = "refused" // the provider refuses
	fallback    class = "fallback"
	broken      class = "fallback from a cut JSON answer"
)

// exchange is one request of a client, with what the providers do.
type exchange struct {
	class  class
	model  string // its own name, so that the ledger has a row for it
	price  price
	path   string // the endpoint that the client calls
	stream bool
	first  string // the provider that is asked first
	calls  int    // of that provider
	prompt string // each of the prompts

	scripts map[string][]*script // by provider
	taken   map[string]int
	notes   []note

	late chan struct{} // closed when the client has the text of all calls but the last
	got  string        // the text that the client has got
	full bool          // the client has the whole answer
}

// names are the providers' names by their endpoints, and endpoints the reverse.
var (
	names     = map[string]string{site.MessagesPath: "pm", site.ChatPath: "pc", site.CompletionsPath: "pl", site.ResponsesPath: "pr", site.GeminiPath: "pg"}
	endpoints = map[string]string{"pm": site.MessagesPath, "pc": site.ChatPath, "pl": site.CompletionsPath, "pr": site.ResponsesPath, "pg": site.GeminiPath}
)

// fallbackTo is the second provider of an exchange with a fallback, by the first.
var fallbackTo = map[string]string{"pm": "pc", "pc": "pm", "pl": "pc", "pr": "pm", "pg": "pc"}

// generator makes random exchanges.
type generator struct {
	*rand.Rand
	prices []price
	made   int
}

// classes are the classes with their shares of the exchanges, in percent.
var classes = []struct {
	class class
	share int
}{
	{wholeAnswer, 26}, {severalLeft, 3}, {compacted, 5}, {unknown, 2}, {unreported, 4}, {several, 8}, {oneRefused, 4}, {oneCut, 4},
	{cut, 12}, {leftMidway, 18}, {refused, 4}, {fallback, 7}, {broken, 3},
}

// next returns an exchange of a random class.
func (g *generator) next() *exchange {
	n := g.IntN(100)
	for _, c := range classes {
		if n -= c.share; n < 0 {
			return g.exchange(c.class)
		}
	}
	panic("the shares are not 100 percent")
}

// exchange returns a random exchange of a class.
func (g *generator) exchange(c class) *exchange {
	lane := g.lane(c)
	first := names[lane.Upstream]
	x := &exchange{
		class: c, path: lane.Path, first: first, calls: 1, stream: g.IntN(2) == 0, price: pick(g, g.prices...),
		prompt:  strings.Repeat("some words of a prompt ", 1+g.IntN(40)),
		scripts: make(map[string][]*script), taken: make(map[string]int), late: make(chan struct{}),
	}
	providers := first
	switch c {
	case unknown:
		x.price = prices[0] // without factors
	case fallback, broken:
		providers += fallbackTo[first]
		x.stream = x.stream && c != broken
	case several:
		x.calls = 2 + g.IntN(3)
	case oneRefused, oneCut, severalLeft:
		x.calls, x.stream = 2+g.IntN(2), true
	case cut, leftMidway:
		x.stream = true
	}
	g.made++
	x.model = fmt.Sprintf("%s-%s-%05d", x.price.name, providers, g.made)
	for range x.calls {
		x.scripts[first] = append(x.scripts[first], g.script(x, lane))
	}
	g.spoil(x, x.scripts[first][x.calls-1])
	if second := strings.TrimPrefix(providers, first); second != "" {
		lane.Upstream = endpoints[second]
		x.scripts[second] = []*script{g.script(x, lane)}
	}
	return x
}

// lane returns a lane in which there are exchanges of a class.
func (g *generator) lane(c class) site.Lane {
	for {
		lane := site.ClientLanes[g.IntN(len(site.ClientLanes))]
		switch c {
		case compacted:
			if lane.Upstream == site.MessagesPath {
				return lane
			}
		case unknown:
			if lane.Upstream != site.CompletionsPath && lane.Upstream != site.GeminiPath {
				return lane
			}
		case several, oneRefused, oneCut, severalLeft:
			if fansOut(lane) {
				return lane
			}
		default:
			return lane
		}
	}
}

// fansOut reports whether a request for several answers becomes several calls.
func fansOut(lane site.Lane) bool {
	switch lane.Path {
	case site.CompletionsPath:
		return !lane.IsBytes()
	case site.ChatPath:
		return lane.Upstream == site.MessagesPath || lane.Upstream == site.ResponsesPath
	default:
		return false
	}
}

// spoil makes the last call of an exchange what its class says.
func (g *generator) spoil(x *exchange, s *script) {
	switch x.class {
	case compacted:
		for range 1 + g.IntN(2) {
			run := usage{input: 1 + g.Int64N(60_000), cacheRead: g.Int64N(2) * g.Int64N(9000), output: 1 + g.Int64N(4000)}
			run.tier, run.fast, run.us = s.claim.tier, s.claim.fast, s.claim.us
			s.claim.further = append(s.claim.further, run)
		}
	case unknown:
		s.claim.tier = pick(g, "priority", "scale", "Priority")
	case unreported:
		s.silent = true
	case oneRefused:
		s.status, s.after = pick(g, 400, 429, 503), x.late
	case oneCut:
		s.ending, s.after = pick(g, reset, failure), x.late
	case cut:
		s.ending = pick(g, reset, failure)
	case leftMidway:
		s.ending = hold
	case refused:
		s.status = pick(g, 400, 403, 413, 422, 500)
	case fallback:
		s.status = pick(g, 404, 429, 500, 503)
	case broken:
		s.ending = reset
	}
}

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// script returns a whole answer of a provider.
func (g *generator) script(x *exchange, lane site.Lane) *script {
	s := &script{parts: g.parts(lane)}
	if x.class == oneRefused || x.class == oneCut {
		s.parts = []part{{text, slices.Repeat([]string{"the quick brown fox "}, 5+g.IntN(15))}}
	}
	if g.IntN(3) == 0 && lane.Upstream == site.MessagesPath {
		s.outside = slices.Repeat([]event{named(object{"type": "ping"})}, 3)
	}
	u := &s.claim
	u.input, u.output = 1+g.Int64N(30_000), 1+g.Int64N(4000)
	u.cacheRead = g.Int64N(2) * g.Int64N(20_000)
	if x.class == severalLeft {
		s.ending = hold
	}
	if x.class == cut || x.class == leftMidway || x.class == severalLeft { // most of the cost is that of the text
		u.input, u.cacheRead = tokensOf(x.prompt), 0
	}
	if lane.Upstream == site.CompletionsPath {
		u.cacheRead = 0
	} else {
		u.reasoning = g.Int64N(2) * g.Int64N(u.output)
	}
	switch lane.Upstream {
	case site.MessagesPath:
		u.cacheWrite, u.cacheWriteLong = g.Int64N(2)*g.Int64N(900), g.Int64N(2)*g.Int64N(500)
		if x.price.name == "tiered" {
			u.tier, u.fast, u.us = pick(g, "", "batch", "priority"), g.IntN(3) == 0, g.IntN(3) == 0
		}
	case site.ChatPath, site.ResponsesPath:
		u.cacheWrite = g.Int64N(2) * g.Int64N(9000)
		if x.price.name == "tiered" {
			u.tier = pick(g, "", "flex", "priority")
		}
	}
	if x.price.name == "thinking" && (lane.Upstream == site.MessagesPath || lane.Upstream == site.ResponsesPath) {
		u.searches = g.Int64N(4)
	}
	return s
}

// scripts in which the texts are written. A character of Chinese is a token.
var alphabets = []string{"abcdefghij klmnopqrstuv wxyz", `"quoted" \and\ 'escaped' <&> `, "敏捷的棕色狐狸跳过懒狗"}

// parts returns the parts of an answer that both formats of a lane can express, of at least
// 100 tokens in pieces of 5 to 800 characters.
func (g *generator) parts(lane site.Lane) (parts []part) {
	kinds := []kind{text}
	if lane.Path != site.CompletionsPath && lane.Upstream != site.CompletionsPath {
		kinds = pick(g, []kind{text}, []kind{reasoning, text}, []kind{text, arguments}, []kind{arguments})
	}
	if lane.Path == site.ResponsesPath && !lane.IsBytes() && kinds[0] == reasoning {
		kinds = kinds[1:] // the client would get the reasoning sealed
	}
	if lane.Path == site.GeminiPath && !lane.IsBytes() {
		kinds = slices.DeleteFunc(kinds, func(k kind) bool { return k == arguments }) // the client gets a call at its end
	}
	if len(kinds) == 0 {
		kinds = []kind{text}
	}
	size, letters := pick(g, 5, 20, 80, 200, 800), []rune(pick(g, alphabets...))
	for _, k := range kinds {
		p := part{kind: k}
		for count := max(400/size, 1) + g.IntN(30*5/size+1); count > 0; count-- {
			piece := make([]rune, size)
			for i := range piece {
				piece[i] = letters[g.IntN(len(letters))]
			}
			if len(p.pieces) == 0 {
				piece[0] = letters[0] // templates of prompts take a space from the beginning
			}
			p.pieces = append(p.pieces, string(piece))
		}
		if k == arguments {
			p.pieces[0] = `{"a":"` + strings.NewReplacer(`"`, "", `\`, "").Replace(p.pieces[0])
			for i := range p.pieces[1:] {
				p.pieces[1+i] = strings.NewReplacer(`"`, "", `\`, "").Replace(p.pieces[1+i])
			}
			p.pieces = append(p.pieces, `"}`)
		}
		parts = append(parts, p)
	}
	return parts
}

// body returns the request of the client.
func (x *exchange) body() string {
	b := object{"model": x.model, "stream": x.stream}
	message := []any{object{"role": "user", "content": x.prompt}}
	tool := object{"type": "object", "properties": object{"a": object{"type": "string"}}}
	switch x.path {
	case site.MessagesPath:
		b["messages"], b["max_tokens"] = message, 20_000
		b["tools"] = []any{object{"name": "f", "input_schema": tool}}
	case site.ChatPath:
		b["messages"], b["max_tokens"], b["n"] = message, 20_000, x.calls
		b["tools"] = []any{object{"type": "function", "function": object{"name": "f", "parameters": tool}}}
	case site.ResponsesPath:
		b["input"], b["max_output_tokens"] = x.prompt, 20_000
		b["tools"] = []any{object{"type": "function", "name": "f", "parameters": tool}}
	case site.GeminiPath:
		b["contents"] = []any{object{"role": "user", "parts": []any{object{"text": x.prompt}}}}
		b["generationConfig"] = object{"maxOutputTokens": 20_000, "thinkingConfig": object{"includeThoughts": true}}
		b["tools"] = []any{object{"functionDeclarations": []any{object{"name": "f", "parametersJsonSchema": tool}}}}
	case site.CompletionsPath:
		b["prompt"], b["max_tokens"] = slices.Repeat([]string{x.prompt}, x.calls), 20_000
		if x.calls == 1 {
			b["prompt"] = x.prompt
		}
	}
	if x.formatHasTools() {
		return encoded(b)
	}
	delete(b, "tools")
	return encoded(b)
}

// formatHasTools reports whether a call of a tool is a part of an answer.
func (x *exchange) formatHasTools() bool {
	for _, scripts := range x.scripts {
		for _, s := range scripts {
			if slices.ContainsFunc(s.parts, func(p part) bool { return p.kind == arguments }) {
				return true
			}
		}
	}
	return false
}
