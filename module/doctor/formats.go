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

// format is a format of requests to the gateway. Together, messages and chat test most
// providers both in their own format and with translation.
type format struct {
	name, path, countPath string
	limit                 string // the name of max_tokens

	streaming, system, tools, image change

	parse      func(body []byte) (answer, error)
	parseEvent func(s *streamed, event map[string]any)
	withResult func(request map[string]any, a answer) map[string]any
}

// change turns a plain request into the request of a probe.
type change func(request map[string]any)

// maxTokens is the max_tokens of requests that expect an answer.
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

// answer is the part of a JSON answer that probes use.
type answer struct {
	text   string
	cut    bool // the answer ended at max_tokens; thinking may have used all of them
	callID string
	turn   any // the turn of the assistant, for the next request
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
		f.parseEvent(&s, event)
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

// withTurns returns a copy of a request with more turns. The copy does not demand a tool
// call.
func withTurns(request map[string]any, turns ...any) map[string]any {
	more := maps.Clone(request)
	delete(more, "tool_choice")
	more["messages"] = slices.Concat(request["messages"].([]any), turns)
	return more
}

// counts returns the usage of an answer, of which input and output are the members with
// the numbers of tokens.
func counts(usage any, input, output string) Usage {
	of, _ := usage.(map[string]any)
	in, _ := of[input].(float64)
	out, _ := of[output].(float64)
	return Usage{int64(in), int64(out)}
}
