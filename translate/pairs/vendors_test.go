package pairs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// signedReasoning are requests whose history has reasoning that Claude has signed, or alone can
// read, as clients of each format keep it.
var signedReasoning = map[translate.Format][]string{
	translate.Messages: {
		replied(`{"type":"thinking","thinking":"private","signature":"c2ln"},` + textBlock("a")).body,
		replied(`{"type":"redacted_thinking","data":"c2ln"},` + textBlock("a")).body,
	},
	translate.Chat: {
		minding(`{"type":"thinking","thinking":"private","signature":"c2ln"}`).body,
		minding(`{"type":"redacted_thinking","data":"c2ln"}`).body,
	},
	translate.Responses: {
		pondering(`,"summary":[],"encrypted_content":"` + sealedBlock(`{"type":"thinking","thinking":"private","signature":"c2ln"}`) + `"`).body,
		pondering(`,"summary":[],"encrypted_content":"` + sealedBlock(`{"type":"redacted_thinking","data":"c2ln"}`) + `"`).body,
	},
	translate.Gemini: {
		signedCall(seal.Block, `[{"type":"thinking","thinking":"private","signature":"c2ln"}]`).body,
		signedCall(seal.Block, `[{"type":"redacted_thinking","data":"c2ln"}]`).body,
	},
}

// A session with thinking changed from Claude to Nova: "User messages cannot contain reasoning
// content." Only Claude's models on Converse get what Claude has signed, by any name of theirs.
func TestReasoningGoesToTheModelsOfItsVendorOnly(t *testing.T) {
	const arn = "arn:aws:bedrock:us-east-1:123456789012:"
	for upstream, isClaude := range map[string]bool{
		"anthropic.claude-sonnet-4-5-20250929-v1:0": true, "us.anthropic.claude-opus-4-7": true, "eu.anthropic.claude-haiku-4-5": true,
		"apac.anthropic.claude-sonnet-4-6": true, "global.anthropic.claude-opus-5": true,
		arn + "inference-profile/us.anthropic.claude-sonnet-4-6": true, arn + "foundation-model/anthropic.claude-sonnet-4-6": true,
		"us.amazon.nova-2-lite-v1:0": false, "amazon.nova-pro-v1:0": false, "us.deepseek.r1-v1:0": false, "us.meta.llama4-scout-17b-instruct-v1:0": false,
		"mistral.magistral-small-2509": false, "openai.gpt-oss-120b-1:0": false, "qwen.qwen3-32b-v1:0": false, "cohere.command-r-plus-v1:0": false,
		"moonshot.kimi-k2-thinking": false, "minimax.minimax-m2": false, "writer.palmyra-x5-v1:0": false, "ai21.jamba-1-5-large-v1:0": false,
		arn + "inference-profile/us.amazon.nova-2-lite-v1:0": false, arn + "application-inference-profile/abcdef123456": false, arn + "imported-model/xyz": false,
	} {
		for from, bodies := range signedReasoning {
			for _, body := range bodies {
				_, refused := formats.Of(from).Requests.Inspect([]byte(body), translate.Generate)
				require.Nil(t, refused)
				info := &core.RequestInfo{Model: "m1", Upstream: upstream, Seals: sealer}
				out, r, refused := pairs.Render(nil, from, translate.Converse, []byte(body), info)
				require.Nil(t, refused, body)
				assert.Equal(t, isClaude, strings.Contains(string(out), "reasoningContent"), "%s: %s", upstream, out)
				assert.Equal(t, isClaude, strings.Contains(string(out), "c2ln"), upstream)
				reported := strings.Contains(r.Losses.String(), "thinking") || strings.Contains(r.Losses.String(), "encrypted_content") ||
					strings.Contains(r.Losses.String(), "thoughtSignature") || strings.Contains(r.Losses.String(), "summary") || strings.Contains(r.Losses.String(), "content.*.data")
				assert.NotEqual(t, isClaude, reported, "%s from %s: %s", upstream, from, r.Losses)
				for _, loss := range r.Losses {
					assert.NotRegexp(t, `\d`, loss.Path, "the index of a loss is general")
				}
			}
		}
	}
}

// Reasoning that the gateway has signed itself has no vendor. On its way to Converse it was
// refused without the name of a field.
func TestReasoningThatNobodySignedIsLeftOut(t *testing.T) {
	own := string(seal.AppendSelfSigned(nil, []byte("t")))
	for _, upstream := range []string{"us.anthropic.claude-sonnet-4-6", "us.amazon.nova-2-lite-v1:0"} {
		for from, body := range map[translate.Format]string{
			translate.Messages:  replied(`{"type":"thinking","thinking":"t","signature":"` + own + `"},` + textBlock("a")).body,
			translate.Chat:      minding(`{"type":"thinking","thinking":"t","signature":"` + own + `"}`).body,
			translate.Responses: pondering(`,"summary":[],"encrypted_content":"` + selfSignedSeal + `"`).body,
		} {
			out, r, refused := pairs.Render(nil, from, translate.Converse, []byte(body), &core.RequestInfo{Model: "m1", Upstream: upstream, Seals: sealer})
			require.Nil(t, refused, "%s", from)
			assert.NotContains(t, string(out), "reasoningContent")
			assert.NotEmpty(t, r.Losses)
		}
	}
}

// What a model of another vendor has signed is no signature of Claude, which would refuse the
// conversation: clients get the reasoning as of providers that sign nothing.
func TestSignaturesOfOtherVendorsReachNoClient(t *testing.T) {
	for upstream, isClaude := range map[string]bool{"us.anthropic.claude-sonnet-4-6": true, "us.amazon.nova-2-lite-v1:0": false, "us.deepseek.r1-v1:0": false, "openai.gpt-oss-120b-1:0": false, "moonshot.kimi-k2-thinking": false} {
		for _, client := range []translate.Format{translate.Messages, translate.Chat, translate.Responses, translate.Gemini} {
			_, r, refused := renderHistory(t, way{client, translate.Converse}, "", upstream, nil, asks("a"))
			require.Nil(t, refused)
			for _, stream := range []bool{false, true} {
				r.Answer.Stream, r.Answer.Reasoning.Hidden, r.Answer.Seals = stream, false, sealer
				tr := pairs.NewTranslator(translate.Converse, client, &r.Answer, newIDs())
				body, err := json.Marshal(map[string]any{
					"output": map[string]any{"message": map[string]any{"role": "assistant", "content": []any{
						map[string]any{"reasoningContent": map[string]any{"reasoningText": map[string]any{"text": "why", "signature": "c2lnbmVk"}}},
						map[string]any{"reasoningContent": map[string]any{"redactedContent": "c2VhbGVk"}},
						map[string]any{"toolUse": map[string]any{"toolUseId": "t1", "name": "f", "input": map[string]any{}}},
					}}},
					"stopReason": "tool_use", "usage": map[string]any{"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
				})
				require.NoError(t, err)
				require.Nil(t, tr.Answer(body))
				out := string(tr.Output())
				if client == translate.Messages || client == translate.Chat {
					assert.Equal(t, isClaude, strings.Contains(out, "c2lnbmVk"), "%s for %s: %s", upstream, client, out)
					assert.Equal(t, isClaude, strings.Contains(out, "c2VhbGVk"), "%s for %s", upstream, client)
					assert.Contains(t, out, "why")
				}
				if client == translate.Messages {
					assert.Equal(t, !isClaude, strings.Contains(out, seal.SelfSigned), "as of providers that sign nothing")
				}
				assert.Equal(t, !isClaude, strings.Contains(tr.Losses().String(), "reasoning.signature"), "%s for %s: %s", upstream, client, tr.Losses())
			}
		}
	}
}
