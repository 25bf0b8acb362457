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

// format is a format in which the gateway is asked. Together, messages and chat use a
// provider both in its own format and in translation.
type format struct {
	name, path, countPath string
	limit                 string // the name of max_tokens

	streaming, system, tools, image change

	parse      func(body []byte) (answer, error)
	parseEvent func(s *streamed, event map[string]any)
	withResult func(request map[string]any, a answer) map[string]any
}

// change makes a plain request one of a probe.
type change func(request map[string]any)

// maxTokens is the length of the longest answers.
const maxTokens = 64

// request returns a request for an answer to a prompt.
func (f format) request(model, prompt string, change change) map[string]any {
	request := map[string]any{
		"model": model, f.limit: maxTokens,
		"messages": []any{map[string]any{"role": "user", "content": prompt}},
	}
	if change != nil {
		change(request)
	}
	return request
}

// answer is what a probe reads of a whole answer.
type answer struct {
	text   string
	cut    bool // at max_tokens, of which thinking may have used all
	callID string
	turn   any // the turn of the assistant, as it is sent back
	usage  Usage
}

// streamed is what a probe reads of a stream.
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
			s.failure = "an event of the stream is no JSON object"
			return s
		}
		if message := errorIn([]byte(data)); message != "" {
			s.failure = message
			return s
		}
		f.parseEvent(&s, event)
	}
	return s
}

var errNoAnswer = errors.New("the answer is not one of the format")

// pixel is an image of one pixel: a PNG in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// parameters are the parameters of the tool of the probe "tools".
var parameters = map[string]any{
	"type":       "object",
	"properties": map[string]any{"city": map[string]any{"type": "string"}},
	"required":   []string{"city"},
}

// forecast is what the tool returns.
const forecast = "sunny, 20 degrees"

// withTurns returns a copy of a request with two more turns, and without the order to
// call a tool.
func withTurns(request map[string]any, turns ...any) map[string]any {
	more := maps.Clone(request)
	delete(more, "tool_choice")
	more["messages"] = slices.Concat(request["messages"].([]any), turns)
	return more
}

// counts reads two members of an object of usage.
func counts(usage any, input, output string) Usage {
	of, _ := usage.(map[string]any)
	in, _ := of[input].(float64)
	out, _ := of[output].(float64)
	return Usage{int64(in), int64(out)}
}
