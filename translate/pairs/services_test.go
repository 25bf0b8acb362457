package pairs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// conversationTargets are the formats of providers that have tools.
var conversationTargets = []translate.Format{translate.Messages, translate.Chat, translate.Responses, translate.Gemini, translate.Converse}

// eachConversation runs a test for every way of requests whose formats both have tools.
func eachConversation(t *testing.T, test func(t *testing.T, w way)) {
	for from := range histories {
		for _, to := range conversationTargets {
			if w := (way{from, to}); from != to {
				t.Run(w.name(), func(t *testing.T) { test(t, w) })
			}
		}
	}
}

// A chat client's tool "mcp.server/tool:x" went to Claude as it was, which refused the request,
// while all other formats got a name that they accept. Every service gets such a name, in tools,
// the choice among them and the history, and the client its own in the answer.
func TestNamesOfToolsAreMadeFitForEveryService(t *testing.T) {
	fit := map[translate.Format]*regexp.Regexp{
		translate.Messages: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
		translate.Gemini:   regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`),
	}
	other := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, name := range []string{"mcp.server/tool:x", "a b", "日本", "ends_with\nline", "plain", strings.Repeat("n", 100), strings.Repeat("n", 129), "é", "a.b", "quote\"d"} {
		eachConversation(t, func(t *testing.T, w way) {
			call := madeCall{"c1", name, "{}"}
			out, r, fault := renderHistory(t, w, "", "", []string{name, "plain2"}, asks("a"), calls(call), returns(call))
			require.Nil(t, fault)
			pattern := fit[w.target]
			if pattern == nil {
				pattern = other
			}
			names := regexp.MustCompile(`"name":"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(out, -1)
			require.GreaterOrEqual(t, len(names), 2, out)
			sent := ""
			for _, found := range names {
				assert.Regexp(t, pattern, found[1])
				if found[1] != "plain2" {
					assert.Contains(t, []string{"", found[1]}, sent, "one name in all places")
					sent = found[1]
				}
			}
			for _, stream := range []bool{false, true} {
				r.Answer.Stream = stream
				answer := emitted(t, w.source, &r.Answer, event.Event{Kind: event.ToolStart, ID: []byte("c2"), Name: []byte(sent)})
				assert.Contains(t, answer, quoted(name), "the client's own name")
			}
		})
	}
}

// emitted returns an answer with a call, in the client's format.
func emitted(t *testing.T, client translate.Format, m *translate.AnswerContext, start event.Event) string {
	t.Helper()
	e := formats.Of(client).Answers.NewEmitter(m, newIDs())
	for _, ev := range []event.Event{
		{Kind: event.Start, ID: []byte("id"), Model: []byte("m")}, start, {Kind: event.ToolArgs, Text: []byte("{}")}, {Kind: event.ToolEnd},
		{Kind: event.Finish, Finish: event.FinishTools}, {Kind: event.End},
	} {
		e.Handle(&ev)
	}
	require.Nil(t, e.Fault())
	return string(e.Output())
}

// Two names may become one for the service. A call of the one would be a call of the other for
// the client.
func TestNamesOfToolsThatBecomeOneAreRefused(t *testing.T) {
	eachConversation(t, func(t *testing.T, w way) {
		_, r, fault := renderHistory(t, w, "", "", []string{"a.b"}, asks("a"))
		require.Nil(t, fault)
		require.Len(t, r.Answer.Tools.Shortened, 1)
		for short := range r.Answer.Tools.Shortened {
			_, _, fault = renderHistory(t, w, "", "", []string{"a.b", short}, asks("a"))
			require.NotNil(t, fault)
			assert.Contains(t, fault.Param, "name")
		}
	})
}

// Claude's call was cut off by the bound of the answer, and the client sent its arguments back
// beside a complaint, as OpenAI accepts it: every later request was refused. Arguments that are
// no object are carried in one, as they are in answers, and reported.
func TestArgumentsThatAreNoObjectAreCarried(t *testing.T) {
	for text, object := range map[string]string{
		`{"path":"/tm`:                  `{"_invalid_arguments":"{\"path\":\"/tm"}`,
		`{bad`:                          `{"_invalid_arguments":"{bad"}`,
		`{"a":1}{"b":2}`:                `{"_invalid_arguments":"{\"a\":1}{\"b\":2}"}`,
		`{"a":1}]`:                      `{"_invalid_arguments":"{\"a\":1}]"}`,
		`{"a":01}`:                      `{"_invalid_arguments":"{\"a\":01}"}`,
		"\n":                            `{}`,
		``:                              `{}`,
		`null`:                          `{}`,
		` {"a": 1} `:                    `{"a": 1}`,
		`"{\"a\":1}"`:                   `{"a":1}`,
		`[1]`:                           `{"_arguments":[1]}`,
		`"str"`:                         `{"_arguments":"str"}`,
		`7.50`:                          `{"_arguments":7.50}`,
		`true`:                          `{"_arguments":true}`,
		`{"_invalid_arguments":"{bad"}`: `{"_invalid_arguments":"{bad"}`,
	} {
		for _, from := range []translate.Format{translate.Chat, translate.Responses} {
			for _, to := range []translate.Format{translate.Messages, translate.Gemini, translate.Converse} {
				call := madeCall{"c1", "f", text}
				out, r, fault := renderHistory(t, way{from, to}, "", "", []string{"f"}, asks("a"), calls(call), returns(call))
				require.Nil(t, fault, text)
				assert.Regexp(t, `"(input|args)":`+regexp.QuoteMeta(object), out)
				wrapped := strings.HasPrefix(object, `{"_`) && text != object
				assert.Equal(t, wrapped, strings.Contains(r.Losses.String(), "arguments"), "%s: %s", text, r.Losses)
			}
		}
		if strings.TrimSpace(text) != "" {
			call := madeCall{"c1", "f", text}
			out, _, fault := renderHistory(t, chatToResponses, "", "", []string{"f"}, asks("a"), calls(call), returns(call))
			require.Nil(t, fault, text)
			assert.Contains(t, out, `"arguments":`+quoted(text), "a text is what the format has")
		}
	}
}

// A client's six stop texts went to services that take four, and refused them all. The provider
// gets the first ones, and the gateway itself enforces the others.
func TestStopsBeyondThoseOfAServiceAreEnforced(t *testing.T) {
	all := []string{"one", "two", "3", "four", "five", "\u00e9"}
	members := map[translate.Format]string{translate.Messages: `"stop_sequences":`, translate.Chat: `"stop":`, translate.Completions: `"stop":`, translate.Gemini: `"generationConfig":{"stopSequences":`}
	for most, upstreams := range map[int]map[translate.Format]string{
		4: {translate.Chat: "", translate.Messages: "", translate.Completions: "", translate.Gemini: "", translate.Converse: ""},
		1: {translate.Chat: "", translate.Messages: "", translate.Gemini: ""},
		0: {translate.Chat: "", translate.Messages: "", translate.Completions: "", translate.Gemini: "", translate.Converse: ""},
		6: {translate.Chat: "", translate.Messages: ""},
	} {
		for from, member := range members {
			for to := range upstreams {
				if from == to {
					continue
				}
				raw, _ := json.Marshal(all)
				body := sampled[from].bare
				member := member + string(raw)
				if from == translate.Gemini {
					member += "}"
				}
				body = body[:len(body)-1] + "," + member + "}"
				info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traitsOf(t, fmt.Sprintf("max_stops %d", most)), Seals: sealer}
				out, r, fault := pairs.Render(nil, from, to, []byte(body), info)
				require.Nil(t, fault, body)
				sent := most
				if to == translate.Completions {
					sent-- // beside that of the template
				}
				for i, text := range all {
					assert.Equal(t, i < sent, strings.Contains(string(out), quoted(text)), "%s to %s: %s", from, to, out)
					if i >= sent {
						assert.Contains(t, r.Answer.Cuts.Enforced, text)
					}
				}
				assert.True(t, json.Valid(out))
				assert.Equal(t, most > 0, strings.Contains(string(out), `"stop`), "%s to %s: %s", from, to, out)
			}
		}
	}
}

// An empty text behind as many stops as a service takes was one that the gateway itself looked for,
// and the request ended in a panic.
func TestEmptyStopsAreNotEnforced(t *testing.T) {
	for from, body := range map[translate.Format]string{
		translate.Completions: `{"model":"m","prompt":"p","stop":["x","","y"]}`,
		translate.Chat:        talk(hi, `"stop":["x","","y"]`),
		translate.Messages:    option(`"stop_sequences":["x","","y"]`).body,
		translate.Gemini:      configured(`"stopSequences":["x","","y"]`).body,
	} {
		for _, to := range spoken {
			if from == to || !pairs.CanTranslate(from, to) {
				continue
			}
			info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traitsOf(t, "max_stops 1"), Seals: sealer}
			_, r, refused := pairs.Render(nil, from, to, []byte(body), info)
			if refused != nil {
				assert.Contains(t, refused.Param, "top", "%s to %s", from, to)
				continue
			}
			assert.NotContains(t, r.Answer.Cuts.Enforced, "", "%s to %s", from, to)
			stream, whole := ended(to, someText[to], "stop")
			assert.Contains(t, answered(way{to, from}, r.Answer, []byte(whole)).out, "half", "%s to %s", from, to)
			assert.Contains(t, translated(way{to, from}, r.Answer, [][]byte{stream}, true).out, "half", "%s to %s", from, to)
		}
	}
}
