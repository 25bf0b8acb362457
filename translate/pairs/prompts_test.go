package pairs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// TestEveryWordOfAConversationIsInItsPrompt ensures that no text is lost or
// doubled, and that turns come in their order.
func TestEveryWordOfAConversationIsInItsPrompt(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	settings := []string{"", "prompt_template chatml", "mid_system user", "mid_system hoist; template_guard on"}
	for i := range 400 {
		talk := talker{Rand: random}
		var turns []string
		for range 1 + random.IntN(6) {
			role := []string{"user", "assistant", "system"}[random.IntN(3)]
			turns = append(turns, `{"role":"`+role+`","content":[{"type":"text","text":"`+talk.word()+`"},{"type":"text","text":"`+talk.word()+`\n"}]}`)
		}
		turns = append(turns, `{"role":"user","content":"`+talk.word()+`"}`)
		setting := settings[i%len(settings)]
		for from, body := range map[translate.Format]string{
			translate.Messages: conversation(strings.Join(turns, ",")), translate.Chat: chatting(strings.Join(turns, ",")),
		} {
			out, _, fault := pairs.Render(nil, from, translate.Completions, []byte(body), &core.RequestInfo{Traits: traitsOf(t, setting)})
			require.Nil(t, fault, body)
			var request struct{ Prompt string }
			require.NoError(t, json.Unmarshal(out, &request))
			for _, word := range talk.words {
				require.Equal(t, 1, strings.Count(request.Prompt, word), "%s\n%s", body, request.Prompt)
			}
			if setting != "mid_system hoist; template_guard on" && from == translate.Messages {
				requireOrder(t, request.Prompt, talk.words)
			}
		}
	}
}

func requireOrder(t *testing.T, prompt string, words []string) {
	t.Helper()
	for _, word := range words {
		_, rest, found := strings.Cut(prompt, word)
		require.True(t, found, word)
		prompt = rest
	}
}

func FuzzRequestMessagesToCompletions(f *testing.F) {
	for i := range fuzzTraits {
		f.Add([]byte(conversation(hi+`,`+assistant(`[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"a"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]`)+`,{"role":"system","content":"s","output_config":{"effort":"low"},"clear_at":"next_user_message"},`+hi,
			`"system":[{"type":"text","text":"s\u00e9"}]`, `"tools":[{"name":"f"}]`, `"tool_choice":{"type":"none"}`, `"stop_sequences":["a"]`, `"stream":true`, `"top_k":1`, `"thinking":{"type":"adaptive"}`, `"metadata":{"user_id":"u"}`)), byte(i))
	}
	fuzzRender(f, translate.Messages, translate.Completions)
}

func FuzzRequestChatToCompletions(f *testing.F) {
	for i := range fuzzTraits {
		f.Add([]byte(chatting(`{"role":"developer","content":"d"},`+hi+`,`+assistant(`[{"type":"refusal","refusal":"no"}]`)+`,{"role":"user","name":"n","content":[{"type":"text","text":"a\u00e9"}]}`,
			`"max_tokens":5`, `"logprobs":true`, `"top_logprobs":2`, `"stop":["a"]`, `"stream":true`, `"stream_options":{"include_usage":true}`, `"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`, `"user":"u"`, `"seed":1`, `"n":2`)), byte(i))
	}
	fuzzRender(f, translate.Chat, translate.Completions)
}

// talkRequest is a long conversation, of 100 KB and more.
func talkRequest(source translate.Format) []byte {
	prose := strings.Repeat(`Look at the file \"main.go\" and say what it does.\nThen change it. `, 20)
	var turns []string
	for i := range 60 {
		role := [2]string{"user", "assistant"}[i%2]
		turns = append(turns, fmt.Sprintf(`{"role":"%s","content":[{"type":"text","text":"%d %s"}]}`, role, i, prose))
	}
	messages := strings.Join(append(turns, hi), ",")
	if source == translate.Chat {
		return []byte(chatting(messages, `"stream":true`))
	}
	return []byte(conversation(messages, `"stream":true`))
}

func BenchmarkToCompletions(b *testing.B) {
	for _, from := range []translate.Format{translate.Messages, translate.Chat} {
		for _, setting := range []string{"prompt_template turns", "prompt_template chatml", "template_guard on"} {
			b.Run(string(from)+" "+setting, func(b *testing.B) {
				body := talkRequest(from)
				info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(b, setting)}
				buffer := make([]byte, 0, 2*len(body))
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, fault := pairs.Render(buffer, from, translate.Completions, body, info); fault != nil {
						b.Fatal(fault)
					}
				}
			})
		}
	}
}

// TestGuardedTextsAllocateLittle ensures that the search for forged turns builds
// no texts. Each text was decoded into memory of its own before.
func TestGuardedTextsAllocateLittle(t *testing.T) {
	for _, from := range []translate.Format{translate.Messages, translate.Chat} {
		for _, setting := range []string{"prompt_template chatml", "template_guard on"} {
			body := bytes.ReplaceAll(talkRequest(from), []byte("Then change it."), []byte(`\u004eow change it.`))
			info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, setting)}
			buffer := make([]byte, 0, 2*len(body))
			allocs := leastAllocs(func() {
				_, _, fault := pairs.Render(buffer, from, translate.Completions, body, info)
				require.Nil(t, fault)
			})
			assert.LessOrEqual(t, allocs, 10.0, "%s, %s", from, setting)
		}
	}
}
