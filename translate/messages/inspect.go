package messages

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The rows of the table of fields, in the order in which faults are reported.
const (
	rowModel = iota + 1
	rowMessages
	rowSystem
	rowMaxTokens
	rowTemperature
	rowTopP
	rowTopK
	rowStream
	rowStopSequences
	rowTools
	rowToolChoice
	rowThinking
	rowMetadata
	rowOthers
)

// request reads one request body.
type request struct {
	strict.Pass
	view        translate.View
	hasMessages bool
	hasMax      bool
	hasSystem   bool
	leads       bool // the first message is a system text
}

// Inspect is the strict pass over a request body. It returns what the gateway
// needs to know of it, or the fault that comes first: JSON faults in byte
// order, then the fields in the order of their table. CountTokens may leave
// out max_tokens.
func Inspect(body []byte, op translate.Operation) (translate.View, *translate.Fault) {
	r := request{Pass: strict.New(body, strict.Dots)}
	if r.EnterBody() {
		for r.Member() {
			r.member()
		}
		r.view.End = r.ObjectEnd()
		if r.leads && r.hasSystem {
			r.view.LateSystem = 1
		}
		r.Require(rowModel, "model", !r.view.ModelSpan.Empty())
		r.Require(rowMessages, "messages", r.hasMessages)
		r.Require(rowMaxTokens, "max_tokens", r.hasMax || op == translate.CountTokens)
	}
	if fault := r.Fault(); fault != nil {
		return translate.View{}, fault
	}
	return r.view, nil
}

// member reads one top-level member.
func (r *request) member() {
	switch string(r.Name()) {
	case "model":
		if r.Begin(rowModel, "model") {
			r.Model(&r.view)
		}
	case "messages":
		if r.Begin(rowMessages, "messages") {
			r.hasMessages = true
			r.messages()
		}
	case "system":
		if r.Begin(rowSystem, "system") {
			r.system()
		}
	case "max_tokens":
		if r.Begin(rowMaxTokens, "max_tokens") {
			r.hasMax = true
			r.view.MaxTokens = r.AtLeast(1, math.MaxInt32)
		}
	case "stream":
		if r.Begin(rowStream, "stream") {
			r.view.Stream = r.Flag()
		}
	case "tools":
		if r.Begin(rowTools, "tools") {
			r.tools()
		}
	default:
		r.option()
		return
	}
	r.Pop()
}

// option reads a top-level member that is checked by itself.
func (r *request) option() {
	switch string(r.Name()) {
	case "temperature":
		if r.Begin(rowTemperature, "temperature") {
			r.Between(0, 1)
		}
	case "top_p":
		if r.Begin(rowTopP, "top_p") {
			r.WantNumber()
		}
	case "top_k":
		if r.Begin(rowTopK, "top_k") {
			r.WantInteger()
		}
	case "stop_sequences":
		if r.Begin(rowStopSequences, "stop_sequences") {
			r.WantStrings("must be an array of strings")
		}
	case "tool_choice":
		if r.Begin(rowToolChoice, "tool_choice") {
			r.WantTyped()
		}
	case "thinking":
		if r.Begin(rowThinking, "thinking") {
			r.WantTyped()
		}
	case "metadata":
		if r.Begin(rowMetadata, "metadata") {
			r.WantMap()
		}
	default:
		r.unchecked()
		return
	}
	r.Pop()
}

// unchecked reads a top-level member of which nothing is required. Those that
// translation reads are searched for repeated members.
func (r *request) unchecked() {
	switch name := string(r.Name()); name {
	case "output_config":
		r.Push("output_config")
		r.OptionsWith("format")
	case "output_format":
		r.Push("output_format")
		r.Options()
	case "cache_control":
		r.Push("cache_control")
		r.Options()
	case "thread":
		r.Push("thread")
		r.Options()
	default:
		r.Skip()
		return
	}
	r.Pop()
}

// tools reads the tool entries. Their schemas are only copied.
func (r *request) tools() {
	if !r.EnterArray() {
		r.Refuse("must be an array of objects")
		return
	}
	for i := 0; r.Element(); i++ {
		r.PushIndex(i)
		r.Item(i)
		r.tool()
		r.Pop()
	}
}

func (r *request) tool() {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return
	}
	for r.Member() {
		switch string(r.Name()) {
		case "name":
			r.Push("name")
			if !r.Null() {
				r.WantString("must be a string")
			}
			r.Pop()
		case "cache_control":
			r.Push("cache_control")
			r.Options()
			r.Pop()
		default:
			r.Skip()
		}
	}
}
