package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// events writes core events down, one a line.
type events []string

func (e *events) Handle(of *event.Event) {
	var line string
	switch of.Kind {
	case event.Start:
		line = "start " + string(of.Model)
	case event.Text:
		line = fmt.Sprintf("text %d %s", of.Part, of.Text)
	case event.Reasoning:
		line = "reasoning " + string(of.Text)
	case event.Signature:
		line = fmt.Sprintf("signature %s %s", of.Origin, of.Text)
	case event.ReasoningEnd:
		line = "reasoning end"
	case event.ToolStart:
		line = fmt.Sprintf("call %d %s %s", of.Tool, of.ID, of.Name)
	case event.ToolArgs:
		line = fmt.Sprintf("args %d %s", of.Tool, of.Text)
	case event.ToolEnd:
		line = fmt.Sprintf("call end %d", of.Tool)
	case event.Finish:
		line = fmt.Sprintf("finish %d %s", of.Finish, of.Text)
	case event.Usage:
		u := of.Usage
		line = fmt.Sprintf("usage %d/%d/%d/%d", u.Fresh, u.CacheRead, u.Answer, u.Reasoning)
	case event.Error:
		line = "error " + of.Fault.Kind.String() + " " + of.Fault.Message
	case event.End:
		line = "end"
	}
	*e = append(*e, strings.TrimSpace(line))
}

// parsed returns the events of a stream, and the losses.
func parsed(stream ...string) (string, string) {
	var got events
	p := answer.NewParser(&got)
	for _, data := range stream {
		p.Event(sse.Event{Data: []byte(data)})
	}
	p.End(true)
	return strings.Join(got, "\n"), p.Losses().String()
}

// chunk returns a part of a stream with the parts of a candidate; more is the rest of the
// candidate.
func chunk(parts, more string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + more + `}],"modelVersion":"gemini-3.5-flash","responseId":"r"}`
}

const (
	unusable = "error bad_gateway the upstream returned an unusable answer"
	cut      = "error bad_gateway the upstream closed the stream before completing the answer"
	stop     = `,"finishReason":"STOP"`
)

func TestStreamsAreRead(t *testing.T) {
	for name, tt := range map[string]struct {
		stream []string
		want   string
	}{
		"texts": {[]string{chunk(`{"text":"Hel"}`, ""), chunk(`{"text":"lo"}`, ""), chunk(`{"text":""}`, stop)},
			"start gemini-3.5-flash\ntext 0 Hel\ntext 0 lo\nfinish 1\nend"},
		"K037 thoughts": {[]string{chunk(`{"text":"hm","thought":true}`, ""), chunk(`{"text":"so","thought":true},{"text":"Yes"}`, stop)},
			"start gemini-3.5-flash\nreasoning hm\nreasoning so\nreasoning end\ntext 0 Yes\nfinish 1\nend"},
		"K027 a call in an earlier chunk": {[]string{chunk(`{"functionCall":{"id":"f1","name":"find","args":{"n":12345678901234567890}}}`, ""), chunk(`{"text":""}`, stop)},
			"start gemini-3.5-flash\ncall 0 f1 find\nargs 0 {\"n\":12345678901234567890}\ncall end 0\nfinish 1\nend"},
		"K036 calls in two chunks": {[]string{chunk(`{"functionCall":{"name":"a"}}`, ""), chunk(`{"functionCall":{"name":"b","args":{}}}`, stop)},
			"start gemini-3.5-flash\ncall 0  a\nargs 0 {}\ncall end 0\ncall 1  b\nargs 1 {}\ncall end 1\nfinish 1\nend"},
		"a signed call": {[]string{chunk(`{"text":"hm","thought":true},{"functionCall":{"id":"f1","name":"a"},"thoughtSignature":"c2ln"}`, stop)},
			"start gemini-3.5-flash\nreasoning hm\nsignature gemini call:c2ln\nreasoning end\ncall 0 f1 a\nargs 0 {}\ncall end 0\nfinish 1\nend"},
		"K032 a signed empty text": {[]string{chunk(`{"text":"Yes"}`, ""), chunk(`{"text":"","thoughtSignature":"c2ln"}`, stop)},
			"start gemini-3.5-flash\ntext 0 Yes\nsignature gemini part:c2ln\nreasoning end\nfinish 1\nend"},
		"a reason without content": {[]string{chunk(`{"text":"Yes"}`, ""), `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`},
			"start gemini-3.5-flash\ntext 0 Yes\nfinish 2\nend"},
		"K028 a blocked prompt": {[]string{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]},"usageMetadata":{"promptTokenCount":7}}`},
			"start\nusage 7/0/0/0\nfinish 4\nend"},
		"filtered":                     {[]string{chunk(`{"text":"So"}`, `,"finishReason":"SAFETY","finishMessage":"harmful"`)}, "start gemini-3.5-flash\ntext 0 So\nfinish 4 harmful\nend"},
		"K029 a malformed call":        {[]string{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`}, "start\nerror bad_gateway the upstream broke the answer off: 'MALFORMED_FUNCTION_CALL'"},
		"an unknown reason and a text": {[]string{chunk(`{"text":"So"}`, `,"finishReason":"OTHER"`)}, "start gemini-3.5-flash\ntext 0 So\nfinish 0\nend"},
		"K033 no reason":               {[]string{chunk(`{"text":"So"}`, "")}, "start gemini-3.5-flash\ntext 0 So\n" + cut},
		"K033 nothing":                 {nil, cut},
		"K034 an error":                {[]string{chunk(`{"text":"So"}`, ""), `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`}, "start gemini-3.5-flash\ntext 0 So\nerror overloaded The model is overloaded."},
		// A list was no readable event, so that its status was lost.
		"K034 an error in a list": {[]string{chunk(`{"text":"So"}`, ""), `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`}, "start gemini-3.5-flash\ntext 0 So\nerror overloaded The model is overloaded."},
		"K034 another list":       {[]string{`[{"candidates":[]}]`}, unusable},
		"K030 usage": {[]string{chunk(`{"text":"So"}`, stop)[:len(chunk(`{"text":"So"}`, stop))-1] + `,"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":10,"thoughtsTokenCount":5,"totalTokenCount":115}}`},
			"start gemini-3.5-flash\nusage 60/40/10/5\ntext 0 So\nfinish 1\nend"},
		// The thoughts were lost in a usage with tokens of tools, since only the total has both.
		"usage of tools": {[]string{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"toolUsePromptTokenCount":20,"candidatesTokenCount":10,"thoughtsTokenCount":5,"totalTokenCount":135}}`},
			"start\nusage 120/0/10/5\ntext 0 a\nfinish 1\nend"},
		"K031 running usage": {[]string{
			`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`,
			`{"usageMetadata":{"trafficType":"ON_DEMAND"}}`,
			`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}`},
			"start\nusage 9/0/1/0\ntext 0 a\nusage 9/0/1/0\nusage 9/0/2/0\nfinish 1\nend"},
		"parts of a wrong kind":     {[]string{chunk(`{"text":1}`, stop)}, "start gemini-3.5-flash\n" + unusable},
		"arguments of a wrong kind": {[]string{chunk(`{"functionCall":{"name":"a","args":"x"}}`, stop)}, "start gemini-3.5-flash\n" + unusable},
		// The call was left out, and the turn was shown as finished without it.
		"a call without a name":     {[]string{chunk(`{"functionCall":{"args":{"a":1}}}`, stop)}, "start gemini-3.5-flash\n" + unusable},
		"a call with an empty name": {[]string{chunk(`{"functionCall":{"id":"f1","name":""}}`, stop)}, "start gemini-3.5-flash\n" + unusable},
		// The call was made without its arguments.
		"arguments in pieces": {[]string{chunk(`{"functionCall":{"name":"a","willContinue":true,"partialArgs":[{"jsonPath":"$.x","stringValue":"q"}]}}`, stop)},
			"start gemini-3.5-flash\n" + unusable},
		"no JSON": {[]string{`{"candidates":`}, unusable},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := parsed(tt.stream...)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestWhatEventsCannotExpressIsReported(t *testing.T) {
	_, losses := parsed(chunk(`{"inlineData":{"mimeType":"image/png"}},{"text":"a","videoMetadata":{},"other":1}`,
		`,"groundingMetadata":{"a":1},"safetyRatings":[],"finishReason":"OTHER"`), `{"candidates":[{"index":1,"content":{}}],"unknown":2}`)
	for _, path := range []string{
		"candidates[*].content.parts[*].inlineData", "candidates[*].content.parts[*].other", "candidates[*].groundingMetadata", "candidates[*].finishReason", "unknown", "candidates[*]",
	} {
		assert.Contains(t, losses, path)
	}
	assert.NotContains(t, losses, "safetyRatings")
}

func TestJSONAnswersAreRead(t *testing.T) {
	for body, want := range map[string]string{
		chunk(`{"text":"a"},{"text":"b"}`, stop):                                "start gemini-3.5-flash\ntext 0 a\ntext 0 b\nfinish 1\nend",
		chunk(`{"text":"a"}`, ""):                                               "start gemini-3.5-flash\ntext 0 a\n" + unusable,
		`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`:     "error invalid no",
		`[{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}]`: "error rate_limited no",
		`{}`: "start\n" + unusable,
	} {
		var got events
		answer.NewParser(&got).Answer([]byte(body))
		assert.Equal(t, want, strings.Join(got, "\n"), body)
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
		got, _ := parsed(string(first), string(second))
		lines := strings.Split(got, "\n")
		last := lines[len(lines)-1]
		assert.True(t, last == "end" || strings.HasPrefix(last, "error "), "every stream ends with an end or an error")
		assert.Equal(t, last == "end", strings.Contains("\n"+got+"\n", "\nend\n"))
		if last == "end" {
			assert.Contains(t, "\n"+got, "\nfinish ", "no stream is complete without a reason")
		}
	})
}
