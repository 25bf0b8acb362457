package pairs_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// talker makes up conversations. Every text, input and payload in them holds a
// word of its own.
type talker struct {
	*rand.Rand
	words []string
}

func (r *talker) word() string {
	word := fmt.Sprintf("<w%d>", len(r.words))
	r.words = append(r.words, word)
	return word
}

// list joins up to most things.
func (r *talker) list(least, limit int, thing func() string) string {
	var things []string
	for range least + r.IntN(limit-least+1) {
		things = append(things, thing())
	}
	return strings.Join(things, ",")
}

func (r *talker) text() string {
	return `{"type":"text","text":"` + r.word() + `\n"` + r.maybe(`,"cache_control":{"type":"ephemeral"}`) + `}`
}

func (r *talker) maybe(text string) string {
	if r.IntN(4) == 0 {
		return text
	}
	return ""
}

func (r *talker) block() string {
	switch r.IntN(6) {
	case 0:
		return `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + r.word() + `"}}`
	case 1:
		return `{"source":{"type":"base64","media_type":"application/pdf","data":"` + r.word() + `"},"type":"document"}`
	case 2:
		return `{"type":"document","source":{"type":"content","content":[` + r.list(0, 3, r.text) + `]}}`
	case 3:
		return `{"type":"search_result","title":"` + r.word() + `","source":"s","content":[` + r.list(0, 2, r.text) + `]}`
	default:
		return r.text()
	}
}

func (r *talker) result() string {
	return `{"type":"tool_result","tool_use_id":"c1"` + r.maybe(`,"is_error":true`) + `,"content":[` + r.list(0, 3, r.block) + `]}`
}

func (r *talker) call() string {
	return `{"type":"tool_use","id":"c1","name":"f","input":{"a":"` + r.word() + `"}}`
}

func (r *talker) message() string {
	switch r.IntN(6) {
	case 0, 1:
		return `{"role":"user","content":[` + r.list(0, 3, r.block) + `]}`
	case 2:
		return `{"role":"user","content":[` + r.list(1, 3, r.result) + `]}`
	case 3:
		return `{"role":"system","content":"` + r.word() + `"}`
	case 4:
		return `{"content":[` + r.list(1, 2, r.text) + `],"role":"assistant"}`
	default:
		return `{"role":"assistant","content":[` + r.list(0, 2, r.text) + `]}`
	}
}

// TestEveryWordArrivesOnce ensures that no conversion of a conversation loses or repeats
// anything, in any combination of parts.
func TestEveryWordArrivesOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	traits := []string{
		"", "alternation on", "tool_content parts", "mid_system hoist", "mid_system user; alternation on",
		"tool_images inline", "after_results assistant", "cache_breakpoints on", "cache_breakpoints on; alternation on; mid_system hoist; tool_content parts; tool_images inline",
	}
	for i := range 800 {
		talk := talker{Rand: random}
		calls := hi + `,{"role":"assistant","content":[` + talk.list(1, 2, talk.call) + `]}`
		body := conversation(calls+`,`+talk.list(1, 6, talk.message)+`,`+hi, `"system":[`+talk.list(0, 2, talk.text)+`]`)
		setting := "files on; " + traits[i%len(traits)]
		_, fault := formats.Of(translate.Messages).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		out, _, fault := pairs.Render(nil, translate.Messages, translate.Chat, []byte(body), &core.RequestInfo{Traits: traitsOf(t, setting)})
		require.Nil(t, fault, body)
		require.NoError(t, judgeChat([]byte(strings.Replace(string(out), `"model":""`, `"model":"m"`, 1))), "%s\n%s\n%s", setting, body, out)
		for _, word := range talk.words {
			require.Equal(t, 1, strings.Count(string(out), word), "%s: %s\n%s\n%s", word, setting, body, out)
		}
	}
}

// chatPart is a part of a chat message.
func (r *talker) chatPart() string {
	switch r.IntN(5) {
	case 0:
		return `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + r.word() + `"}}`
	case 1:
		return `{"type":"file","file":{"file_data":"data:application/pdf;base64,` + r.word() + `","filename":"` + r.word() + `"}}`
	default:
		return r.text()
	}
}

func (r *talker) chatCall() string {
	return `{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":\"` + r.word() + `\"}"}}`
}

func (r *talker) chatMessage() string {
	switch r.IntN(6) {
	case 0, 1:
		return `{"role":"user","content":[` + r.list(1, 3, r.chatPart) + `]}`
	case 2:
		return `{"role":"tool","tool_call_id":"c1","content":[` + r.list(0, 3, r.chatPart) + `]}`
	case 3:
		return `{"content":"` + r.word() + `","role":"system"}`
	case 4:
		return `{"role":"assistant","content":"` + r.word() + `","thinking_blocks":[{"type":"thinking","thinking":"` + r.word() + `","signature":"` + r.word() + `"}]}`
	default:
		return `{"tool_calls":[` + r.list(0, 2, r.chatCall) + `],"role":"assistant","content":[` + r.list(0, 2, r.text) + `]}`
	}
}

// TestEveryWordOfAChatArrivesOnce is the same towards messages providers.
func TestEveryWordOfAChatArrivesOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	traits := []string{"", "mid_system keep", "mid_system user", "thinking_style budget; default_max_tokens 9000"}
	for i := range 800 {
		talker := talker{Rand: random}
		body := talk(hi+`,`+talker.list(1, 7, talker.chatMessage), `"reasoning_effort":"low"`)
		_, fault := formats.Of(translate.Chat).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		out, _, fault := pairs.Render(nil, translate.Chat, translate.Messages, []byte(body), &core.RequestInfo{Upstream: "up", Traits: traitsOf(t, traits[i%len(traits)])})
		require.Nil(t, fault, body)
		require.NoError(t, judgeMessages(out), "%s\n%s", body, out)
		for _, word := range talker.words {
			require.Equal(t, 1, strings.Count(string(out), word), "%s\n%s\n%s", word, body, out)
		}
	}
}

// TestEveryWordArrivesOnceTowardsResponses is the same towards responses providers, for
// the clients of two formats.
func TestEveryWordArrivesOnceTowardsResponses(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	traits := []string{"", "mid_system hoist", "mid_system user; system_role developer", "cache_breakpoints on; responses_reasoning text"}
	for i := range 800 {
		talker := talker{Rand: random}
		var source translate.Format
		var body string
		if i%2 == 1 {
			source, body = translate.Chat, talk(hi+`,`+talker.list(1, 7, talker.chatMessage)+`,`+hi)
		} else {
			source, body = translate.Messages, conversation(hi+`,`+talker.list(1, 6, talker.message)+`,`+hi, `"system":[`+talker.list(0, 2, talker.text)+`]`)
		}
		setting := traits[i/2%len(traits)]
		_, fault := formats.Of(source).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		out, _, fault := pairs.Render(nil, source, translate.Responses, []byte(body), &core.RequestInfo{Upstream: "up", Traits: traitsOf(t, setting)})
		require.Nil(t, fault, body)
		require.NoError(t, judgeResponses(out), "%s\n%s", body, out)
		talker.requireEachOnce(t, body, string(out), strings.Contains(setting, "reasoning"))
	}
}

// requireEachOnce requires each word of a request once. Thinking and its signature may
// have been left out together; their two words are adjacent.
func (r *talker) requireEachOnce(t *testing.T, body, out string, thinking bool) {
	t.Helper()
	for _, word := range r.words {
		signs := strings.Contains(body, `"signature":"`+word)
		thinks := strings.Contains(body, `"thinking":"`+word)
		if !signs && (thinking || !thinks) {
			require.Equal(t, 1, strings.Count(out, word), "%s\n%s\n%s", word, body, out)
		} else {
			require.NotContains(t, out, word)
		}
	}
}
