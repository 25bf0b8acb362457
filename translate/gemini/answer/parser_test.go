package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// chunk returns a part of a stream with the parts of a candidate; more is the rest of the
// candidate.
func chunk(parts, more string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + more + `}],"modelVersion":"gemini-3.5-flash","responseId":"r"}`
}

const (
	begin    = "start gemini-3.5-flash 0"
	unusable = "error 502 the upstream returned an unusable answer"
	cut      = "error 502 the upstream closed the stream before completing the answer"
	stop     = `,"finishReason":"STOP"`
)

func TestStreamsAreRead(t *testing.T) {
	for name, tt := range map[string]struct {
		stream []string
		want   []string
	}{
		"texts": {[]string{chunk(`{"text":"Hel"}`, ""), chunk(`{"text":"lo"}`, ""), chunk(`{"text":""}`, stop)},
			[]string{begin, `text "Hel"`, `text "lo"`, "finish stop", "end"}},
		"K037 thoughts": {[]string{chunk(`{"text":"hm","thought":true}`, ""), chunk(`{"text":"so","thought":true},{"text":"Yes"}`, stop)},
			[]string{begin, `reasoning "hm"`, `reasoning "so"`, "reasoning end", `text "Yes"`, "finish stop", "end"}},
		"K027 a call in an earlier chunk": {[]string{chunk(`{"functionCall":{"id":"f1","name":"find","args":{"n":12345678901234567890}}}`, ""), chunk(`{"text":""}`, stop)},
			[]string{begin, `tool 0 "f1" "find"`, `args 0 "{\"n\":12345678901234567890}"`, "tool end 0", "finish stop", "end"}},
		"K036 calls in two chunks": {[]string{chunk(`{"functionCall":{"name":"a"}}`, ""), chunk(`{"functionCall":{"name":"b","args":{}}}`, stop)},
			[]string{begin, `tool 0 "" "a"`, `args 0 "{}"`, "tool end 0", `tool 1 "" "b"`, `args 1 "{}"`, "tool end 1", "finish stop", "end"}},
		"a signed call": {[]string{chunk(`{"text":"hm","thought":true},{"functionCall":{"id":"f1","name":"a"},"thoughtSignature":"c2ln"}`, stop)},
			[]string{begin, `reasoning "hm"`, `signature "call:c2ln" of gemini`, "reasoning end", `tool 0 "f1" "a"`, `args 0 "{}"`, "tool end 0", "finish stop", "end"}},
		"K032 a signed empty text": {[]string{chunk(`{"text":"Yes"}`, ""), chunk(`{"text":"","thoughtSignature":"c2ln"}`, stop)},
			[]string{begin, `text "Yes"`, `signature "part:c2ln" of gemini`, "reasoning end", "finish stop", "end"}},
		"a reason without content": {[]string{chunk(`{"text":"Yes"}`, ""), `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`},
			[]string{begin, `text "Yes"`, "finish length", "end"}},
		"K028 a blocked prompt": {[]string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]},"usageMetadata":{"promptTokenCount":7}}`},
			[]string{"start  0 input 7", "usage 7+0+0 0 (0)", "finish filtered", "end"}},
		"filtered":                     {[]string{chunk(`{"text":"So"}`, `,"finishReason":"SAFETY","finishMessage":"harmful"`)}, []string{begin, `text "So"`, `finish filtered "harmful"`, "end"}},
		"K029 a malformed call":        {[]string{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`}, []string{"start  0", "error 502 the upstream broke the answer off: 'MALFORMED_FUNCTION_CALL'"}},
		"an unknown reason and a text": {[]string{chunk(`{"text":"So"}`, `,"finishReason":"TIRED"`)}, []string{begin, `text "So"`, "finish unknown", "end"}},
		"K033 no reason":               {[]string{chunk(`{"text":"So"}`, "")}, []string{begin, `text "So"`, cut}},
		"K033 nothing":                 {nil, []string{cut}},
		"K034 an error":                {[]string{chunk(`{"text":"So"}`, ""), `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`}, []string{begin, `text "So"`, "error 503 The model is overloaded."}},
		// A list was no readable event, so that its status was lost.
		"K034 an error in a list": {[]string{chunk(`{"text":"So"}`, ""), `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`}, []string{begin, `text "So"`, "error 503 The model is overloaded."}},
		"K034 another list":       {[]string{`[{"candidates":[]}]`}, []string{unusable}},
		"K030 usage": {[]string{chunk(`{"text":"So"}`, stop)[:len(chunk(`{"text":"So"}`, stop))-1] + `,"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":10,"thoughtsTokenCount":5,"totalTokenCount":115}}`},
			[]string{begin + " input 60", "usage 60+40+0 15 (5)", `text "So"`, "finish stop", "end"}},
		// The thoughts were lost in a usage with tokens of tools, since only the total has both.
		"usage of tools": {[]string{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"toolUsePromptTokenCount":20,"candidatesTokenCount":10,"thoughtsTokenCount":5,"totalTokenCount":135}}`},
			[]string{"start  0 input 120", "usage 120+0+0 15 (5)", `text "a"`, "finish stop", "end"}},
		"K031 running usage": {[]string{
			`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`,
			`{"usageMetadata":{"trafficType":"ON_DEMAND"}}`,
			`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}`},
			[]string{"start  0 input 9", "usage 9+0+0 1 (0)", `text "a"`, "usage 9+0+0 1 (0)", "usage 9+0+0 2 (0)", "finish stop", "end"}},
		"parts of a wrong kind":     {[]string{chunk(`{"text":1}`, stop)}, []string{begin, unusable}},
		"arguments of a wrong kind": {[]string{chunk(`{"functionCall":{"name":"a","args":"x"}}`, stop)}, []string{begin, unusable}},
		// The call was left out, and the turn was shown as finished without it.
		"a call without a name":     {[]string{chunk(`{"functionCall":{"args":{"a":1}}}`, stop)}, []string{begin, unusable}},
		"a call with an empty name": {[]string{chunk(`{"functionCall":{"id":"f1","name":""}}`, stop)}, []string{begin, unusable}},
		// The call was made without its arguments.
		"arguments in pieces": {[]string{chunk(`{"functionCall":{"name":"a","willContinue":true,"partialArgs":[{"jsonPath":"$.x","stringValue":"q"}]}}`, stop)},
			[]string{begin, unusable}},
		"no JSON": {[]string{`{"candidates":`}, []string{unusable}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, translatetest.ReadEvents(answer.NewParser, true, tt.stream...))
		})
	}
}

func TestWhatEventsCannotExpressIsReported(t *testing.T) {
	p := answer.NewParser(&translatetest.Transcript{})
	for _, data := range []string{chunk(`{"inlineData":{"mimeType":"image/png"}},{"text":"a","videoMetadata":{},"other":1}`,
		`,"groundingMetadata":{"a":1},"safetyRatings":[],"finishReason":"TIRED"`), `{"candidates":[{"index":1,"content":{}}],"unknown":2}`} {
		p.Event(sse.Event{Data: []byte(data)})
	}
	p.End(true)
	losses := p.Losses().String()
	for _, path := range []string{
		"candidates[*].content.parts[*].inlineData", "candidates[*].content.parts[*].other", "candidates[*].groundingMetadata", "candidates[*].finishReason", "unknown", "candidates[*]",
	} {
		assert.Contains(t, losses, path)
	}
	assert.NotContains(t, losses, "safetyRatings")
}

func TestJSONAnswersAreRead(t *testing.T) {
	for body, want := range map[string][]string{
		chunk(`{"text":"a"},{"text":"b"}`, stop):                                []string{begin, `text "a"`, `text "b"`, "finish stop", "end"},
		chunk(`{"text":"a"}`, ""):                                               []string{begin, `text "a"`, unusable},
		`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`:     []string{"error 400 no"},
		`[{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}]`: []string{"error 429 no"},
		`{}`: []string{"start  0", unusable},
	} {
		assert.Equal(t, want, translatetest.ReadAnswer(answer.NewParser, body), body)
	}
}

func TestInspectionsKnowTheModel(t *testing.T) {
	got, fault := answer.Inspect([]byte(chunk(`{"text":"a"}`, stop)), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, "gemini-3.5-flash", got.Model)
}

func FuzzParser(f *testing.F) {
	f.Add([]byte(chunk(`{"text":"hm","thought":true},{"functionCall":{"id":"f1","name":"a"},"thoughtSignature":"c2ln"}`, stop)), []byte(`{"error":{}}`))
	f.Add([]byte(chunk(`{"text":"a"}`, "")), []byte(chunk(`{"text":"b"}`, stop)))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		lines := translatetest.ReadEvents(answer.NewParser, true, string(first), string(second))
		last := lines[len(lines)-1]
		assert.True(t, last == "end" || strings.HasPrefix(last, "error "), "every stream ends with an end or an error")
		assert.Equal(t, last == "end", slices.Contains(lines, "end"))
		if last == "end" {
			assert.Contains(t, strings.Join(lines, "\n"), "\nfinish ", "no stream is complete without a reason")
		}
	})
}
