package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Words is the text of an answer, unless one of the request's stops cuts it.
const Words = "one two three four five six seven eight"

// words returns the text of the answer: that before the first stop of the request.
func (q *Request) words() string {
	spoken := Words
	for _, found := range q.Find("stops") {
		list, _ := found.([]any)
		for _, stop := range list {
			spoken, _, _ = strings.Cut(spoken, text(stop))
		}
	}
	return spoken
}

// answers are bodies by their format, with %q for the text.
var answers = map[Format]string{
	Chat: `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},` +
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
	Completions: `{"id":"c1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":%q,"logprobs":null,` +
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
	Responses: `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1",` +
		`"role":"assistant","status":"completed","content":[{"type":"output_text","text":%q,"annotations":[]}]}],` +
		`"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":5}}`,
	Messages: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%q}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}`,
	Gemini: `{"candidates":[{"content":{"role":"model","parts":[{"text":%q}]},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"modelVersion":"m","responseId":"r1"}`,
	Converse: `{"metrics":{"latencyMs":9},"output":{"message":{"role":"assistant","content":[{"text":%q}]}},"stopReason":"end_turn",` +
		`"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}}`,
}

func (q *Request) answer(w http.ResponseWriter) {
	write(w, http.StatusOK, fmt.Sprintf(answers[q.Format], q.words()))
}

func write(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the caller may have left
}

// refuse answers with the error of a rule, in the shape of the service.
func (r *Rule) refuse(w http.ResponseWriter, q *Request) {
	body, _ := json.Marshal(r.failure(w.Header(), q)) // strings
	write(w, r.status(), string(body))
}

// failure returns the body of the error. Bedrock names the kind of its errors in a header, too.
func (r *Rule) failure(header http.Header, q *Request) any {
	message := r.Sentence(q)
	switch {
	case q.Service == Bedrock:
		header.Set("X-Amzn-Errortype", cmp.Or(r.Type, "ValidationException"))
		if q.Format == Converse && strings.HasPrefix(r.ID, "A") {
			message = "The model returned the following errors: " + message
		}
		return map[string]any{"message": message}
	case q.Format == Messages:
		return map[string]any{"type": "error", "request_id": "req_1", "error": map[string]any{
			"type": cmp.Or(r.Type, "invalid_request_error"), "message": message,
		}}
	case q.Format == Gemini:
		return map[string]any{"error": map[string]any{
			"code": r.status(), "message": message, "status": cmp.Or(r.Type, "INVALID_ARGUMENT"),
		}}
	case q.Service == XAI:
		return map[string]any{"code": cmp.Or(r.Code, "Client specified an invalid argument"), "error": message}
	case q.Service == Mistral && r.status() == http.StatusUnprocessableEntity:
		detail := []any{map[string]any{"type": "extra_forbidden", "loc": []any{"body", r.Param}, "msg": message}}
		return map[string]any{"object": "Error", "detail": detail, "message": detail, "type": "invalid_request_error", "code": 3001}
	case q.Service == Mistral:
		return map[string]any{
			"object": "error", "message": message, "type": cmp.Or(r.Type, "invalid_request_error"), "param": nil, "code": orNull(r.Code),
		}
	case q.Service == CohereAI:
		return map[string]any{"message": message}
	case q.Service == MiniMax:
		return map[string]any{"type": "error", "request_id": "0660b098", "error": map[string]any{
			"type": "bad_request_error", "message": message, "http_code": "400",
		}}
	case q.Service == Cerebras:
		return map[string]any{"message": message, "type": "invalid_request_error", "param": "validation_error", "code": orNull(r.Code)}
	}
	return map[string]any{"error": map[string]any{
		"message": message, "type": cmp.Or(r.Type, "invalid_request_error"), "param": orNull(r.param(q.Format)), "code": orNull(r.Code),
	}}
}

// param returns the member that the error names, as the format names it.
func (r *Rule) param(f Format) string { return pathsOf(f, r.Param)[0] }

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
