package singleanswer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members of an answer of a format that has nothing but texts and reasoning.
var (
	small    = members.New("")
	name     = small.Maybe(members.String, "model")
	counts   = small.Maybe(members.Object, "counts")
	failure  = small.Maybe(members.Any, "error")
	text     = small.Of(members.String, "text")
	thought  = small.Of(members.String, "thought")
	why      = small.Maybe(members.String, "why")
	smallest = singleanswer.Words{
		Usage:  token.NewRows(token.Row{Path: "in", Is: token.Prompt}, token.Row{Path: "out", Is: token.Output}),
		Reason: "why",
	}
	pieces = singleanswer.Parts{Table: small, Model: name, Usage: counts, Failure: failure, Dialect: openai.Errors.Dialect}
)

// parser is the parser of that format.
type parser struct {
	singleanswer.Parser
	part members.Values
	open singleanswer.Item
}

func newParser(h event.Handler) *parser {
	p := &parser{}
	p.Init(&smallest, h)
	return p
}

func (p *parser) Event(e sse.Event) {
	if pieces.ReadPart(&p.Parser, &p.part, e) {
		p.send()
		p.Parser.Events.Learn(e)
	}
}

func (p *parser) Answer(body []byte) {
	if pieces.ReadWhole(&p.Parser, &p.part, body) {
		p.send()
		p.Events.Complete()
	}
}

func (p *parser) send() {
	v := &p.part
	if v.Filled(thought) != nil {
		p.Events.Add(p.Events.Switch(&p.open, event.Reasoning), v.Raw(thought), v.At(thought))
	}
	if v.Filled(text) != nil {
		p.Events.Add(p.Events.Switch(&p.open, event.Text), v.Raw(text), v.At(text))
	}
	if v.Raw(why) != nil {
		p.Events.Close(&p.open)
		p.Finish(v.Raw(why), nil, nil)
	}
}

// events writes events down.
type events []string

var kinds = map[event.Kind]string{
	event.Start: "start", event.Text: "text", event.Reasoning: "reasoning", event.ReasoningEnd: "reasoning end", event.Finish: "finish",
	event.Usage: "usage", event.End: "end", event.Error: "error",
}

func (e *events) Handle(received *event.Event) {
	word := kinds[received.Kind]
	switch received.Kind {
	case event.Start:
		word += " " + string(received.Model)
	case event.Text, event.Reasoning:
		word += fmt.Sprintf(" %d %s", received.Part, received.Text)
	case event.Finish:
		word += fmt.Sprint(" ", received.Finish)
	case event.Usage:
		word += fmt.Sprint(" ", received.Usage.Input(), received.Usage.Output())
	case event.Error:
		word += " " + received.Fault.Message
	}
	*e = append(*e, word)
}

const broken = "error the upstream returned an unusable answer"

func TestStreamsOfPartsAreRead(t *testing.T) {
	for name, tt := range map[string]struct{ stream, want string }{
		"a stream": {
			`{"model":"m","thought":"a"}|{"thought":"b"}|{"thought":"c"}|{"text":"d"}|{"text":"e","counts":{"in":3,"out":1}}|{"why":"done","counts":{"in":3,"out":2}}`,
			"start m|reasoning 0 a|reasoning 0 b|reasoning 0 c|reasoning end|text 0 d|usage 3 1|text 0 e|usage 3 2|finish 1|end",
		},
		"an unknown reason": {`{"why":"tired"}`, "start |finish 0|end"},
		"an error":          {`{"text":"a"}|{"error":{"message":"no"},"other":1}|{"text":"b"}`, "start |text 0 a|error no"},
		"no end":            {`{"text":"a"}`, "start |text 0 a|error the upstream closed the stream before completing the answer"},
		"no object":         {`["text"]`, broken},
		"no JSON":           {`{"text":`, broken},
		"a member twice":    {`{"text":"a","text":"b"}`, broken},
	} {
		t.Run(name, func(t *testing.T) {
			var got events
			p := newParser(&got)
			for data := range strings.SplitSeq(tt.stream, "|") {
				p.Event(sse.Event{Data: []byte(data)})
			}
			p.End(true)
			assert.Equal(t, tt.want, strings.Join(got, "|"))
			assert.Equal(t, name == "an unknown reason", len(p.Losses()) > 0)
		})
	}
}

func TestAJSONAnswerIsTheOnlyPart(t *testing.T) {
	var got events
	newParser(&got).Answer([]byte(`{"model":"m","thought":"a","text":"b","why":"done","counts":{"in":1,"out":2}}`))
	assert.Equal(t, "start m|usage 1 2|reasoning 0 a|reasoning end|text 0 b|finish 1|end", strings.Join(got, "|"))
	answer, fault := singleanswer.Inspect(newParser, "in")([]byte(`{"error":{"message":"no"}}`), translate.Generate)
	assert.Empty(t, answer)
	assert.Equal(t, "no", fault.Message)
}
