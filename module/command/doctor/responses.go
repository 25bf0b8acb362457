package doctor

import (
	"encoding/json"
	"strings"
)

// responses is the format of POST /v1/responses.
var responses = format{
	name: "responses", path: "/v1/responses", countPath: "/v1/responses/input_tokens",
	limit: "max_output_tokens", turns: "input",
	changes: changes{
		streaming: func(request map[string]any) { request["stream"] = true },
		system:    func(request map[string]any) { request["instructions"] = "Be brief." },
		tools: func(request map[string]any) {
			request["tools"] = []any{map[string]any{"type": "function", "name": "weather", "description": "The weather of a city", "parameters": parameters, "strict": false}}
			request["tool_choice"] = map[string]any{"type": "function", "name": "weather"}
		},
		image: func(request map[string]any) {
			request["input"] = []any{map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "input_image", "image_url": "data:image/png;base64," + pixel},
				map[string]any{"type": "input_text", "text": "Which colour is it?"},
			}}}
		},
	},
	parse:      parseResponse,
	parseEvent: parseResponseEvent,
	withResult: func(request map[string]any, a answer) map[string]any {
		return withTurns(request, "input", append(a.turns, map[string]any{"type": "function_call_output", "call_id": a.callID, "output": forecast})...)
	},
}

func parseResponse(body []byte) (a answer, err error) {
	var r struct {
		Status string
		Output []json.RawMessage
		Usage  any
	}
	if json.Unmarshal(body, &r) != nil || r.Output == nil {
		return a, errNoAnswer
	}
	for _, raw := range r.Output {
		var item struct {
			Content []struct{ Text string }
			CallID  string `json:"call_id"`
		}
		if json.Unmarshal(raw, &item) != nil {
			return a, errNoAnswer
		}
		for _, part := range item.Content {
			a.text += part.Text
		}
		if item.CallID != "" {
			a.callID = item.CallID
		}
		a.turns = append(a.turns, raw)
	}
	a.cut = r.Status == "incomplete"
	a.usage = counts(r.Usage, "input_tokens", "output_tokens")
	return a, nil
}

// parseResponseEvent also reports events without a member that official SDKs need to put
// the answer together.
func parseResponseEvent(s *streamed, event map[string]any) {
	kind, _ := event["type"].(string)
	response, hasResponse := event["response"].(map[string]any)
	switch _, isOfItem := event["item_id"]; {
	case kind == "response.failed":
		failure, _ := response["error"].(map[string]any)
		s.failure, _ = failure["message"].(string)
		s.failure = "the stream ends with a failure: " + s.failure
	case event["sequence_number"] == nil:
		s.lacks(kind, "sequence_number")
	case (isOfItem || strings.HasPrefix(kind, "response.output_item.")) && event["output_index"] == nil:
		s.lacks(kind, "output_index")
	case hasResponse && !isList(response["output"]):
		s.lacks(kind, "response.output")
	case kind == "response.completed" || kind == "response.incomplete":
		s.complete = true
		s.usage = counts(response["usage"], "input_tokens", "output_tokens")
	}
}

func isList(value any) bool {
	_, ok := value.([]any)
	return ok
}

func (s *streamed) lacks(event, member string) {
	s.failure = "the events of the stream are incomplete: " + event + " has no " + member
}
