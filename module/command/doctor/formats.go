package doctor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// formats are the formats of clients.
var formats = []format{messages, chat, completions, responses, gemini}

// format is a format of requests to the gateway.
type format struct {
	name, path, countPath string
	limit                 string // the name of max_tokens
	turns                 string // the name of the list of turns, "" for a prompt
	begins                bool   // streams begin with the number of input tokens, which clients show
	optional              bool   // a model without answers in the format is not broken

	changes changes
	own     own

	parse      func(body []byte) (answer, error)
	parseEvent func(s *streamed, event map[string]any)
	withResult func(request map[string]any, a answer) map[string]any
}

// own are functions of formats whose requests differ more from others. Each may be nil.
type own struct {
	turn func(text string) any // returns a turn of the user
	// address returns the path of a request, and its body.
	address func(path string, request map[string]any) (string, map[string]any)
}

// changes turn a plain request into the requests of probes. A format has those that its
// requests can express.
type changes struct{ streaming, system, tools, image change }

// change turns a plain request into the request of a probe.
type change func(request map[string]any)

// maxTokens is the max_tokens of requests that expect an answer.
const maxTokens = 64

// has reports whether requests of the format can express a probe.
func (f format) has(probe string) bool {
	switch probe {
	case "system":
		return f.changes.system != nil
	case "turns":
		return f.turns != ""
	case "tools":
		return f.changes.tools != nil
	case "image":
		return f.changes.image != nil
	case "count":
		return f.countPath != ""
	}
	return true
}

// request returns a request for an answer to a prompt.
func (f format) request(model, prompt string, change change) map[string]any {
	request := map[string]any{"model": model, f.limit: maxTokens}
	if f.turns == "" {
		request["prompt"] = prompt
	} else {
		request[f.turns] = []any{f.turn(prompt)}
	}
	if change != nil {
		change(request)
	}
	return request
}

// turn returns a turn of the user.
func (f format) turn(text string) any {
	if f.own.turn != nil {
		return f.own.turn(text)
	}
	return turn(text)
}

// turn returns a turn of the user in most formats.
func turn(text string) any { return map[string]any{"role": "user", "content": text} }

// answer is the part of a JSON answer that probes use.
type answer struct {
	text   string
	cut    bool // the answer ended at max_tokens; thinking may have used all of them
	callID string
	turns  []any // the turn of the assistant, for the next request
	usage  Usage
}

// streamed is the part of a stream that probes use.
type streamed struct {
	complete bool
	failure  string
	usage    Usage
}

// parseStream reads a stream to its end.
func (f format) parseStream(body []byte) (s streamed) {
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if data = strings.TrimSpace(data); !ok || data == "" {
			continue
		}
		if data == "[DONE]" {
			s.complete = true
			continue
		}
		var event map[string]any
		if json.Unmarshal([]byte(data), &event) != nil {
			s.failure = "an event of the stream is not a JSON object"
			return s
		}
		if message := errorIn([]byte(data)); message != "" {
			s.failure = message
			return s
		}
		if f.parseEvent(&s, event); s.failure != "" {
			return s
		}
	}
	return s
}

var errNoAnswer = errors.New("the answer does not have the format of the request")

// pixel is an image of one pixel: a PNG in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// parameters are the parameters of the tool of the probe "tools".
var parameters = map[string]any{
	"type":       "object",
	"properties": map[string]any{"city": map[string]any{"type": "string"}},
	"required":   []string{"city"},
}

// forecast is the result of the tool.
const forecast = "sunny, 20 degrees"

// withTurns returns a copy of a request with more turns in a list. The copy does not demand a tool
// call.
func withTurns(request map[string]any, list string, turns ...any) map[string]any {
	more := maps.Clone(request)
	delete(more, "tool_choice")
	more[list] = slices.Concat(request[list].([]any), turns)
	return more
}

// counts returns the usage of an answer, of which input and output are the members with
// the numbers of tokens.
func counts(usage any, input, output string) Usage {
	object, _ := usage.(map[string]any)
	inputCount, _ := object[input].(float64)
	outputCount, _ := object[output].(float64)
	return Usage{int64(inputCount), int64(outputCount)}
}
