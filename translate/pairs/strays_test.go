package pairs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// strays are events that are no part of an answer, and the message of each, "" for none.
var strays = map[string]string{
	`{"Response":{"Error":{"Code":"X","Message":"worker died"},"RequestId":"r"}}`: "worker died",
	`{"ErrorMsg":{"Msg":"worker died","Code":2001}}`:                              "worker died",
	`{"header":{"code":10007,"message":"worker died","sid":"s"}}`:                 "worker died",
	`{"Message":"worker died"}`:                                                   "worker died",
	`{"message":"worker died","id":"x"}`:                                          "worker died",
	`{"id":"x","choices":[],"model":"m","message":"worker died"}`:                 "worker died",
	`{"id":"x","object":"chunk","created":1,"model":"m","failure":"worker died"}`: "worker died",
	`{"status":{"code":"51","description":"worker died"}}`:                        "worker died",
	`{"exception":{"class":"Oom","message":"worker died"},"trace":"t"}`:           "worker died",
	`{"result":{"err_msg":"worker died"}}`:                                        "worker died",
	`{"status":"failed","phase":"decode"}`:                                        "",
	`{"oops":{"why":"worker died"}}`:                                              "",
	`{"id":"x","aborted":true}`:                                                   "",
}

// ordinaryEvents have no content either, and are sent by services behind which an answer is whole.
var ordinaryEvents = []string{
	`{}`, `{"type":"ping"}`, `{"event":"keep-alive","time":1}`, `{"heartbeat":1}`, `{"choices":[],"prompt_filter_results":[],"id":"","model":"","object":"","created":0}`,
	`{"prompt_filter_results":[{"prompt_index":0}]}`, `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m"}`, `{"x_groq":{"id":"r"}}`,
	`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, `{"base_resp":{"status_code":0,"status_msg":"success"}}`, `{"header":{"code":0,"message":"Success"}}`,
	`{"choices":[],"code":200,"message":"ok"}`,
}

// wholeCall is a call with all its arguments, behind which nothing ends the turn.
func wholeCall(format translate.Format) content {
	c := openCalls[format]
	c.fragments = strings.ReplaceAll(c.fragments, `rm -rf build"`, `rm -rf build\"}"`)
	if format == translate.Gemini {
		c.fragments = `{"functionCall":{"name":"f","args":{"cmd":"ls"}}}`
	}
	return c
}

// unended returns the stream of a format with content, then these events as they are, and no word for
// its end.
func unended(format translate.Format, c content, events ...string) []byte {
	var stream []byte
	fragments := splitFragments(c)
	switch format {
	case translate.Messages:
		stream = messagesStream(append([]string{`{"type":"message_start","message":{"model":"m"}}`}, fragments...)...)
	case translate.Responses:
		stream = responsesStream(append([]string{`{"type":"response.created","response":{"model":"m","output":[]}}`}, fragments...)...)
	case translate.Converse:
		stream = converseStream(fragments...)
	case translate.Gemini:
		if c.fragments != "" {
			stream = chatStream(nil, `{"modelVersion":"m","candidates":[{"content":{"parts":[`+c.fragments+`]}}]}`)
		}
	case translate.Completions:
		if c.fragments != "" {
			stream = chatStream(nil, `{"model":"m","choices":[{"index":0,`+c.fragments+`}]}`)
		}
	default:
		if c.fragments != "" {
			stream = chatStream([]string{"{" + c.fragments + "}"})
		}
	}
	return slices.Concat(stream, chatStream(nil, events...))
}

// lastOf returns what a format has behind its answer even when no word has ended it.
func lastOf(format translate.Format) []string {
	if format == translate.Chat || format == translate.Completions {
		return []string{"[DONE]"}
	}
	return nil
}

// observedEnd returns the signals of a stream to a client of its own format, and its fault.
func observedEnd(format translate.Format, stream []byte) (seen signal.Signal, f *fault.Fault) {
	o, lexer := formats.Of(format).Answers.NewObserver(), sse.NewLexer(0)
	lexer.Feed(stream)
	for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
		seen |= o.Observe(e)
	}
	return seen, o.Fault()
}

// A service sent half an answer, an error in a shape of its own and [DONE]: the client read end_turn,
// and even ran a tool call that stood alone.
func TestAnEventThatIsNoPartOfAnAnswerIsTheReasonOfItsMissingEnd(t *testing.T) {
	for stray, message := range strays {
		for _, w := range ways {
			for name, c := range map[string]content{"nothing": {}, "text": someText[w.source], "call": wholeCall(w.source)} {
				if name != "nothing" && c.fragments == "" {
					continue
				}
				stream := unended(w.source, c, append([]string{stray}, lastOf(w.source)...)...)
				o := translated(w, w.remembered(true), [][]byte{stream}, true)
				place := w.name() + " behind " + name + ": " + stray
				require.NotNil(t, o.Fault(), place)
				requireUnfinished(t, o)
				if w.fromChoices() {
					if message != "" {
						assert.Equal(t, message, o.Fault().Message, place)
					}
					seen, f := observedEnd(w.source, stream)
					require.NotNil(t, f, place)
					assert.True(t, seen.Has(signal.Failed), place)
					assert.Equal(t, o.Fault().Message, f.Message, place)
				} else {
					seen, _ := observedEnd(w.source, stream)
					assert.False(t, seen.Has(signal.Terminal), place)
				}
			}
		}
	}
}

// A service has events of its own beside the answer: the word for the end of a turn decides, and without
// one an ordinary event changes nothing.
func TestEventsBesideAnAnswerLeaveItWhole(t *testing.T) {
	for _, w := range ways {
		if !w.fromChoices() {
			continue
		}
		for stray := range strays {
			if fault.Stated([]byte(stray)) != nil {
				continue // which ends every answer
			}
			finished, _ := ended(w.source, someText[w.source], "stop")
			for _, stream := range [][]byte{slices.Concat(chatStream(nil, stray), finished), []byte(strings.Replace(string(finished), "data: [DONE]", "data: "+stray+"\n\ndata: [DONE]", 1))} {
				requireWhole(t, w, stream, stray)
			}
		}
		for _, event := range ordinaryEvents {
			requireWhole(t, w, unended(w.source, someText[w.source], event, "[DONE]"), event)
		}
	}
}

// requireWhole requires that a stream is a whole answer to clients of its own and of another format.
func requireWhole(t *testing.T, w way, stream []byte, event string) {
	t.Helper()
	o := translated(w, w.remembered(true), [][]byte{stream}, true)
	require.Nil(t, o.Fault(), "%s: %s", w.name(), event)
	seen, f := observedEnd(w.source, stream)
	require.Nil(t, f, event)
	assert.True(t, seen.Has(signal.Terminal), event)
}

// A line of text in the place of an event was relayed, and [DONE] behind it made the half a whole answer.
func TestTextInThePlaceOfAnEventIsNoPartOfAnAnswer(t *testing.T) {
	for _, format := range []translate.Format{translate.Chat, translate.Completions} {
		for _, text := range []string{"Internal Server Error", `"worker died"`, "[]", "null"} {
			_, f := observedEnd(format, unended(format, someText[format], text, "[DONE]"))
			assert.NotNil(t, f, text)
			finished, _ := ended(format, someText[format], "stop")
			_, f = observedEnd(format, []byte(strings.Replace(string(finished), "data: [DONE]", "data: "+text+"\n\ndata: [DONE]", 1)))
			assert.Nil(t, f, text)
		}
	}
}
