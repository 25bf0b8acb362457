package doctor

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
)

// gemini is the format of POST /v1beta/models/{model}:generateContent. Its requests have the
// model, the bound and the kind of the answer as those of other formats have, until they are sent.
var gemini = format{
	name: "gemini", path: "/v1beta/models/{model}:generateContent", countPath: "/v1beta/models/{model}:countTokens",
	limit: "maxOutputTokens", turns: "contents", own: own{turn: contentOf, address: addressOf},
	changes: changes{
		streaming: func(request map[string]any) { request["stream"] = true },
		system:    func(request map[string]any) { request["systemInstruction"] = contentOf("Be brief.") },
		tools: func(request map[string]any) {
			request["tools"] = []any{map[string]any{"functionDeclarations": []any{
				map[string]any{"name": "weather", "description": "The weather of a city", "parametersJsonSchema": parameters},
			}}}
			request["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": "ANY", "allowedFunctionNames": []string{"weather"}}}
		},
		image: func(request map[string]any) {
			request["contents"] = []any{map[string]any{"role": "user", "parts": []any{
				map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": pixel}},
				map[string]any{"text": "Which colour is it?"},
			}}}
		},
	},
	parse:      parseGenerated,
	parseEvent: parseGeneratedEvent,
	withResult: func(request map[string]any, a answer) map[string]any {
		result := map[string]any{"name": "weather", "response": map[string]any{"output": forecast}}
		if a.callID != "weather" {
			result["id"] = a.callID
		}
		more := withTurns(request, "contents", append(a.turns, map[string]any{"role": "user", "parts": []any{
			map[string]any{"functionResponse": result},
		}})...)
		delete(more, "toolConfig")
		return more
	},
}

func contentOf(text string) any {
	return map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}}
}

// addressOf moves what the format has elsewhere: the model and the kind of the answer into the
// path, and options into an object.
func addressOf(path string, request map[string]any) (string, map[string]any) {
	body, config := maps.Clone(request), make(map[string]any)
	name, _ := request["model"].(string)
	path = strings.Replace(path, "{model}", name, 1)
	if request["stream"] == true {
		path = strings.Replace(path, ":generateContent", ":streamGenerateContent?alt=sse", 1)
	}
	for name, field := range map[string]string{"maxOutputTokens": "maxOutputTokens", "temperature": "temperature", "top_p": "topP"} {
		if value, ok := request[name]; ok {
			config[field] = value
		}
		delete(body, name)
	}
	delete(body, "model")
	delete(body, "stream")
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	return path, body
}

// generated is an answer, or an event of its stream.
type generated struct {
	Candidates []struct {
		Content      json.RawMessage
		FinishReason string
	}
	UsageMetadata any
}

func parseGenerated(body []byte) (a answer, err error) {
	var g generated
	var content struct {
		Parts []struct {
			Text         string
			FunctionCall *struct{ ID, Name string }
		}
	}
	if json.Unmarshal(body, &g) != nil || len(g.Candidates) == 0 || json.Unmarshal(g.Candidates[0].Content, &content) != nil {
		return a, errNoAnswer
	}
	for _, part := range content.Parts {
		a.text += part.Text
		if part.FunctionCall != nil {
			a.callID = cmp.Or(part.FunctionCall.ID, part.FunctionCall.Name) // calls of Vertex AI have no ids
		}
	}
	a.turns, a.cut = []any{g.Candidates[0].Content}, g.Candidates[0].FinishReason == "MAX_TOKENS"
	a.usage = counts(g.UsageMetadata, "promptTokenCount", "candidatesTokenCount")
	return a, nil
}

// parseGeneratedEvent reads an event. The last one has a reason for the end.
func parseGeneratedEvent(s *streamed, event map[string]any) {
	if usage := counts(event["usageMetadata"], "promptTokenCount", "candidatesTokenCount"); usage != (Usage{}) {
		s.usage = usage
	}
	list, _ := event["candidates"].([]any)
	for _, candidate := range list {
		object, _ := candidate.(map[string]any)
		s.complete = s.complete || object["finishReason"] != nil
	}
}
