package doctor

import "encoding/json"

// chat is the format of POST /v1/chat/completions.
var chat = format{
	name: "chat", path: "/v1/chat/completions",
	limit: "max_tokens", turns: "messages",
	changes: changes{
		streaming: func(request map[string]any) {
			request["stream"], request["stream_options"] = true, map[string]any{"include_usage": true}
		},
		system: func(request map[string]any) {
			system := map[string]any{"role": "system", "content": "Be brief."}
			request["messages"] = append([]any{system}, request["messages"].([]any)...)
		},
		tools: func(request map[string]any) {
			request["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{
				"name": "weather", "description": "The weather of a city", "parameters": parameters,
			}}}
			request["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": "weather"}}
		},
		image: func(request map[string]any) {
			request["messages"] = []any{map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + pixel}},
				map[string]any{"type": "text", "text": "Which colour is it?"},
			}}}
		},
	},
	parse:      parseCompletion,
	parseEvent: parseChunk,
	withResult: func(request map[string]any, a answer) map[string]any {
		return withTurns(request, "messages", append(a.turns, map[string]any{"role": "tool", "tool_call_id": a.callID, "content": forecast})...)
	},
}

func parseCompletion(body []byte) (a answer, err error) {
	var c struct {
		Choices []struct {
			Message json.RawMessage
			Reason  string `json:"finish_reason"`
		}
		Usage any
	}
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		return a, errNoAnswer
	}
	var message struct {
		Content string
		Calls   []struct{ ID string } `json:"tool_calls"`
	}
	if json.Unmarshal(c.Choices[0].Message, &message) != nil {
		return a, errNoAnswer
	}
	if len(message.Calls) > 0 {
		a.callID = message.Calls[0].ID
	}
	a.text, a.turns, a.cut = message.Content, []any{c.Choices[0].Message}, c.Choices[0].Reason == "length"
	a.usage = counts(c.Usage, "prompt_tokens", "completion_tokens")
	return a, nil
}

func parseChunk(s *streamed, event map[string]any) {
	choices, _ := event["choices"].([]any)
	for _, choice := range choices {
		fields, _ := choice.(map[string]any)
		s.complete = s.complete || fields["finish_reason"] != nil // some servers send no [DONE]
	}
	if event["usage"] != nil { // in the last chunk, which has no choices
		s.usage = counts(event["usage"], "prompt_tokens", "completion_tokens")
	}
}
