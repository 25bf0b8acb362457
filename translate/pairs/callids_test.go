package pairs_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// The ids in requests of each format: of calls, and of results.
var callIDs = map[translate.Format]*regexp.Regexp{
	translate.Messages:  regexp.MustCompile(`"type":"(tool_use|tool_result)","(?:id|tool_use_id)":"((?:[^"\\]|\\.)*)"`),
	translate.Chat:      regexp.MustCompile(`"(id|tool_call_id)":"((?:[^"\\]|\\.)*)"`),
	translate.Responses: regexp.MustCompile(`"type":"(function_call|function_call_output)","call_id":"((?:[^"\\]|\\.)*)"`),
	translate.Gemini:    regexp.MustCompile(`"(functionCall|functionResponse)":{"id":"((?:[^"\\]|\\.)*)"`),
	translate.Converse:  regexp.MustCompile(`"(toolUse|toolResult)":{"toolUseId":"((?:[^"\\]|\\.)*)"`),
}

// idsIn returns the ids of calls and results, in the order of a request.
func idsIn(target translate.Format, body string) (calls, results []string) {
	for _, found := range callIDs[target].FindAllStringSubmatch(body, -1) {
		if strings.Contains(strings.ToLower(found[1]), "result") || strings.HasSuffix(found[1], "output") || strings.HasSuffix(found[1], "Response") || found[1] == "tool_call_id" {
			results = append(results, found[2])
		} else {
			calls = append(calls, found[2])
		}
	}
	return calls, results
}

// uniqueCalls are the targets whose services refuse a repeated id.
var uniqueCalls = []translate.Format{translate.Messages, translate.Responses, translate.Gemini, translate.Converse}

// A model of Moonshot numbers the calls of every turn anew. After a change to Claude, each
// request of the conversation was refused: "tool_use ids must be unique". The calls of a
// conversation get ids of their own, and each result the id of its call.
func TestRepeatedIdsOfCallsBecomeUnique(t *testing.T) {
	call := func(id, name string) madeCall { return madeCall{id, name, "{}"} }
	for name, c := range map[string]struct {
		turns []spokenTurn
		pairs []int // by result: the call that it answers
	}{
		"in two turns":          {[]spokenTurn{asks("a"), calls(call("x1", "f")), returns(call("x1", "f")), calls(call("x1", "f")), returns(call("x1", "f"))}, []int{0, 1}},
		"in three turns":        {[]spokenTurn{asks("a"), calls(call("f:0", "f")), returns(call("f:0", "f")), calls(call("f:0", "f")), returns(call("f:0", "f")), asks("b"), calls(call("f:0", "f")), returns(call("f:0", "f"))}, []int{0, 1, 2}},
		"parallel, then again":  {[]spokenTurn{asks("a"), calls(call("a", "f"), call("b", "g")), returns(call("a", "f"), call("b", "g")), calls(call("b", "g"), call("a", "f")), returns(call("a", "f"), call("b", "g"))}, []int{0, 1, 3, 2}},
		"like a number of ours": {[]spokenTurn{asks("a"), calls(call("x", "f")), returns(call("x", "f")), calls(call("x_2", "f")), returns(call("x_2", "f")), calls(call("x", "f")), returns(call("x", "f")), calls(call("x_2", "f")), returns(call("x_2", "f"))}, []int{0, 1, 2, 3}},
		"like a later number":   {[]spokenTurn{asks("a"), calls(call("x", "f")), returns(call("x", "f")), calls(call("x", "f")), returns(call("x", "f")), calls(call("x_2", "f")), returns(call("x_2", "f"))}, []int{0, 1, 2}},
		"with odd letters":      {[]spokenTurn{asks("a"), calls(call("日本 \"1", "f")), returns(call("日本 \"1", "f")), calls(call("日本 \"1", "f")), returns(call("日本 \"1", "f"))}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for from := range histories {
				for _, to := range uniqueCalls {
					if from == to || from == translate.Messages && strings.Contains(name, "odd") {
						continue
					}
					out, _, fault := renderHistory(t, way{from, to}, "", "", []string{"f", "g"}, c.turns...)
					require.Nil(t, fault)
					made, answered := idsIn(to, out)
					require.Len(t, answered, len(c.pairs), "%s to %s: %s", from, to, out)
					assert.Len(t, slices.Compact(slices.Sorted(slices.Values(made))), len(made), "%s to %s: %v", from, to, made)
					for i, of := range c.pairs {
						assert.Equal(t, made[of], answered[i], "%s to %s: %s", from, to, out)
					}
					repeated, _, _ := renderHistory(t, way{from, to}, "", "", []string{"f", "g"}, c.turns...)
					assert.Equal(t, out, repeated)
					shorter, _, _ := renderHistory(t, way{from, to}, "", "", []string{"f", "g"}, c.turns[:3]...)
					first, _ := idsIn(to, shorter)
					assert.Equal(t, made[:len(first)], first, "later turns change no id: caches depend on that")
				}
			}
		})
	}
}

// Two calls of one turn have the same id, and two results: the first result is that of the first
// call.
func TestResultsOfOneTurnAnswerItsCallsInOrder(t *testing.T) {
	turns := []spokenTurn{asks("a"), calls(madeCall{"x", "f", "{}"}, madeCall{"x", "f", "{}"}), returns(madeCall{"x", "f", "1"}, madeCall{"x", "f", "2"})}
	for _, from := range []translate.Format{translate.Chat, translate.Responses} {
		for _, to := range uniqueCalls {
			if from != to {
				out, _, fault := renderHistory(t, way{from, to}, "", "", []string{"f"}, turns...)
				require.Nil(t, fault)
				made, answered := idsIn(to, out)
				assert.Equal(t, made, answered, "%s to %s", from, to)
				assert.NotEqual(t, made[0], made[1])
			}
		}
	}
}

// An agent that finds results by ids took the old one when a new call had the id of an earlier
// turn. The client gets another id, and the provider its own again.
func TestANewCallHasNoIdOfTheRequest(t *testing.T) {
	for _, id := range []string{"x1", "list_dir:0", "call_日本", "functions.f:0"} {
		eachConversation(t, func(t *testing.T, w way) {
			earlier := madeCall{id, "f", "{}"}
			if w.source == translate.Messages && !callID.MatchString(id) { // as this client has got it
				_, r, _ := renderHistory(t, w, "", "", []string{"f"}, asks("a"))
				shown, _ := idsIn(w.source, emitted(t, w.source, &r.Answer, event.Event{Kind: event.ToolStart, ID: []byte(id), Name: []byte("f")}))
				earlier.id = shown[0]
			}
			turns := []spokenTurn{asks("a"), calls(earlier), returns(earlier)}
			known := map[string]bool{earlier.id: true}
			for range 3 { // the provider repeats its id in every turn
				_, r, fault := renderHistory(t, w, "", "", []string{"f"}, turns...)
				require.Nil(t, fault)
				answer := emitted(t, w.source, &r.Answer, event.Event{Kind: event.ToolStart, ID: []byte(id), Name: []byte("f")})
				shown := shownID.FindStringSubmatch(answer)
				require.NotNil(t, shown, answer)
				assert.False(t, known[shown[1]], "%s among %v", shown[1], slices.Collect(maps.Keys(known)))
				known[shown[1]] = true
				repeated := madeCall{shown[1], "f", "{}"}
				turns = append(turns, calls(repeated), returns(repeated))
			}
			out, _, fault := renderHistory(t, w, "", "", []string{"f"}, turns...)
			require.Nil(t, fault)
			made, answered := idsIn(w.target, out)
			assert.Equal(t, made, answered)
			if w.target == translate.Chat {
				assert.Equal(t, []string{id, id, id, id}, made, "as the provider has made them")
			}
		})
	}
}

var shownID = regexp.MustCompile(`"(?:id|call_id)":"((?:call|list|functions|x1|gwid)[^"]*)"`)

// Gateways put signatures and names into ids of calls. After a change to OpenAI, each request of
// the conversation was refused: "Invalid 'input[2].call_id': string too long. Expected a string
// with maximum length 64". Other providers get their own long ids back.
func TestLongIdsOfCallsBecomeShortWhereServicesRefuseThem(t *testing.T) {
	for _, id := range []string{
		strings.Repeat("l", 65), "call_4498671d257346d4baa6f58c1dbb__thought__" + strings.Repeat("ZTI0", 100),
		"functions.mcp__a_server_with_a_long_name__a_tool_with_a_long_name:12", strings.Repeat("日", 30), strings.Repeat("l", 64), "call_1",
	} {
		for from := range histories {
			for _, to := range []translate.Format{translate.Chat, translate.Responses} {
				if from == to || from == translate.Messages && !callID.MatchString(id) {
					continue
				}
				call, other := madeCall{id, "f", "{}"}, madeCall{id[:len(id)-3] + "xyz", "f", "{}"}
				turns := []spokenTurn{asks("a"), calls(call, other), returns(call, other)}
				out, _, fault := renderHistory(t, way{from, to}, "tool_call_ids short", "", []string{"f"}, turns...)
				require.Nil(t, fault)
				made, answered := idsIn(to, out)
				require.Len(t, made, 2, out)
				assert.Equal(t, made, answered, "%s to %s", from, to)
				assert.NotEqual(t, made[0], made[1])
				for _, shown := range made {
					assert.LessOrEqual(t, len(shown), 64, "%s to %s", from, to)
				}
				if len(id) <= 64 {
					assert.Equal(t, id, made[0])
				}
				out, _, _ = renderHistory(t, way{from, to}, "", "", []string{"f"}, turns...)
				made, _ = idsIn(to, out)
				assert.Equal(t, id, made[0], "without the trait, from %s to %s", from, to)
			}
		}
	}
}

// A session changed to Mistral after a call: "Tool call id was toolu_01ABC but must be a-z, A-Z,
// 0-9, with a length of 9." Every id becomes one of that form, on every way to such a model, and
// an id that has the form stays.
func TestIdsOfNineLettersAndDigits(t *testing.T) {
	nine := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	for _, id := range []string{"toolu_01ABC", "call_abcdefghijkl", "abc-def_g", "x", "D681PevKs", strings.Repeat("l", 70), "functions_f_0"} {
		for from := range histories {
			for w, traits := range map[way]string{{from, translate.Chat}: "tool_call_ids nine", {from, translate.Messages}: "tool_call_ids nine", {from, translate.Responses}: "tool_call_ids nine", {from, translate.Converse}: ""} {
				if w.source == w.target {
					continue
				}
				upstream := map[translate.Format]string{translate.Converse: "eu.mistral.pixtral-large-2502-v1:0"}[w.target]
				call, other := madeCall{id, "f", "{}"}, madeCall{"other", "f", "{}"}
				out, _, fault := renderHistory(t, w, traits, upstream, []string{"f"}, asks("a"), calls(call, other), returns(call, other), calls(call), returns(call))
				require.Nil(t, fault)
				made, answered := idsIn(w.target, out)
				require.Len(t, made, 3, out)
				assert.Equal(t, made, answered, w.name())
				for i, id := range made {
					assert.Regexp(t, nine, id)
					assert.NotContains(t, made[:i], id)
				}
				if nine.MatchString(id) {
					assert.Equal(t, id, made[0])
				}
			}
		}
	}
}

// A server that gives its calls empty ids had conversations that Claude refuses: an id must have a
// letter. Each call and its result get one of their own.
func TestCallsWithoutIdsGetSome(t *testing.T) {
	for w, traits := range map[way]string{
		{translate.Chat, translate.Messages}: "", {translate.Chat, translate.Converse}: "", {translate.Chat, translate.Responses}: "",
		{translate.Messages, translate.Responses}: "", {translate.Messages, translate.Converse}: "", {translate.Messages, translate.Chat}: "tool_call_ids nine",
	} {
		first, second := madeCall{"", "f", `{"n":1}`}, madeCall{"", "g", `{"n":2}`}
		out, _, fault := renderHistory(t, w, traits, "", []string{"f", "g"}, asks("a"), calls(first, second), returns(first, second), calls(first), returns(first))
		require.Nil(t, fault, w.name())
		made, answered := idsIn(w.target, out)
		require.Len(t, made, 3, out)
		assert.Equal(t, made, answered, w.name())
		for i, id := range made {
			assert.NotEmpty(t, id)
			assert.NotContains(t, made[:i], id)
		}
	}
}

// A chat client that changed to Mistral sent the ids of the service before, which Mistral refuses: only
// translated requests got others. They get the same ones.
func TestIdsOfNineLettersAndDigitsForChatClients(t *testing.T) {
	traits := new(trait.Traits)
	require.NoError(t, traits.SetAll(map[string]string{"tool_call_ids": "nine"}))
	for name, history := range map[string][]spokenTurn{
		"foreign":  {calls(madeCall{"call_abcdefghijkl", "f", "{}"}, madeCall{"\u00e9", "f", "{}"}), returns(madeCall{"call_abcdefghijkl", "f", "{}"}, madeCall{"\u00e9", "f", "{}"})},
		"repeated": {calls(madeCall{"f:0", "f", "{}"}), returns(madeCall{"f:0", "f", "{}"}), calls(madeCall{"f:0", "f", "{}"}), returns(madeCall{"f:0", "f", "{}"})},
		"its own":  {calls(madeCall{"D681PevKs", "f", "{}"}), returns(madeCall{"D681PevKs", "f", "{}"})},
		"none":     nil,
	} {
		turns := append([]spokenTurn{asks("a")}, history...)
		body := []byte(histories[translate.Chat]([]string{"f"}, turns))
		refused := request.Source.Unaccepted(body, new(translate.View), traits)
		assert.Equal(t, name == "its own" || name == "none", refused.Empty(), name)
		made, answered := idsIn(translate.Chat, string(edit.Apply(nil, body, refused.Edits)))
		assert.Equal(t, made, answered, name)
		want, _, fault := renderHistory(t, way{translate.Messages, translate.Chat}, "tool_call_ids nine", "", []string{"f"}, turns...)
		require.Nil(t, fault)
		same, _ := idsIn(translate.Chat, want)
		assert.Equal(t, same, made, name)
	}
	body := histories[translate.Chat](nil, []spokenTurn{asks("a"), calls(madeCall{"x", "f", "{}"})})
	refused := request.Source.Unaccepted([]byte(body), new(translate.View), new(trait.Traits))
	assert.True(t, refused.Empty(), "other providers take any id")
}
