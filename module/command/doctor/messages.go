package doctor

import "encoding/json"

// messages is the format of POST /v1/messages.
var messages = format{
	name: "messages", path: "/v1/messages", countPath: "/v1/messages/count_tokens",
	limit: "max_tokens", turns: "messages", begins: true,
	changes: changes{
		streaming: func(request map[string]any) { request["stream"] = true },
		system:    func(request map[string]any) { request["system"] = "Be brief." },
		tools: func(request map[string]any) {
			request["tools"] = []any{map[string]any{"name": "weather", "description": "The weather of a city", "input_schema": parameters}}
			request["tool_choice"] = map[string]any{"type": "tool", "name": "weather"}
		},
		image: func(request map[string]any) {
			request["messages"] = []any{map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": pixel}},
				map[string]any{"type": "text", "text": "Which colour is it?"},
			}}}
		},
	},
	parse:      parseMessage,
	parseEvent: parseMessageEvent,
	withResult: func(request map[string]any, a answer) map[string]any {
		return withTurns(request, "messages", append(a.turns, map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": a.callID, "content": forecast},
		}})...)
	},
}

func parseMessage(body []byte) (a answer, err error) {
	var m struct {
		Content []json.RawMessage
		Reason  string `json:"stop_reason"`
		Usage   any
	}
	if json.Unmarshal(body, &m) != nil || m.Content == nil {
		return a, errNoAnswer
	}
	for _, raw := range m.Content {
		var block struct{ Type, Text, ID string }
		if json.Unmarshal(raw, &block) != nil {
			return a, errNoAnswer
		}
		a.text += block.Text
		if block.Type == "tool_use" {
			a.callID = block.ID
		}
	}
	a.cut = m.Reason == "max_tokens"
	a.turns = []any{map[string]any{"role": "assistant", "content": m.Content}}
	a.usage = messageUsage(m.Usage)
	return a, nil
}

// messageUsage returns the usage of an answer. Other than in the other formats,
// input_tokens does not include what the provider's cache reads and writes.
func messageUsage(usage any) Usage {
	u := counts(usage, "input_tokens", "output_tokens")
	u.Input += counts(usage, "cache_read_input_tokens", "").Input + counts(usage, "cache_creation_input_tokens", "").Input
	return u
}

func parseMessageEvent(s *streamed, event map[string]any) {
	switch event["type"] {
	case "message_start":
		message, _ := event["message"].(map[string]any)
		s.usage = messageUsage(message["usage"])
	case "message_delta":
		last := messageUsage(event["usage"])
		s.usage.Output = last.Output
		if last.Input > 0 {
			s.usage.Input = last.Input
		}
	case "message_stop":
		s.complete = true
	}
}
