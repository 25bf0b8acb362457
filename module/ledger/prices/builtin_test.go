package prices

import (
	"encoding/csv"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// free are the models that cost nothing at their provider.
var free = regexp.MustCompile(`^(omni-moderation|text-moderation|gemma-|openrouter/free|:free|labs-)`)

func TestBuiltinPricesNameTheirSourceAndDate(t *testing.T) {
	for key, list := range Builtin().index.All {
		for _, p := range list {
			assert.NotEmpty(t, p.Origin.Source, key)
			date, err := time.Parse(time.DateOnly, p.Origin.AsOf)
			assert.NoError(t, err, key)
			assert.False(t, date.After(time.Now()), "%v: the date is in the future", key)
			assert.Equal(t, "USD", p.Currency)
			base := p.Base
			if sum := base.Fresh + base.Answer + base.Search + base.Image + base.Minute + base.Character; !free.MatchString(key.Name) {
				assert.Positive(t, sum, "%v", key)
			}
			assert.LessOrEqual(t, base.CacheRead, base.Fresh, key)
		}
	}
}

// Calls of web search cost more than their tokens. A model that can search has a price of a
// search, so that a budget can reserve it.
func TestBuiltinPricesOfModelsThatSearch(t *testing.T) {
	searches := regexp.MustCompile(`^(gpt-[56]|o[34]|claude-|grok-[4-9]|gemini-[2-9])`)
	others := regexp.MustCompile(`image|tts|embedding|robotics|deep-research|decision|audio`)
	for key, list := range Builtin().index.All {
		if key.Provider == "bedrock" || !searches.MatchString(key.Name) || others.MatchString(key.Name) {
			continue
		}
		for _, p := range list {
			assert.False(t, p.Base.Search == 0 && p.Origin.Note == "", "%v has neither a price of a search nor a note", key)
		}
	}
}

// unequal are the names whose prices differ from the second reading, with the reason.
var unequal = map[string]string{
	"azure/deepseek-v4-pro":           "two other lists have the price of the table; this one is 1.1 times as much, as of a data zone",
	"gemini/gemini-flash-latest":      "Google has moved the name since",
	"gemini/gemini-flash-lite-latest": "Google has moved the name since",
}

// The prices in testdata are a second reading: those of models.dev on 2026-11-20, as pi-ai 1.6.0
// has them. Each name of them that the table knows costs the same, but for those with a reason. It
// states the price that DeepSeek has at peak times.
func TestBuiltinPricesEqualASecondReading(t *testing.T) {
	file, err := os.Open("testdata/models.dev.csv")
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	peak := time.Date(2026, 11, 20, 2, 0, 0, 0, time.UTC)
	compared := 0
	for _, line := range lines[1:] {
		provider, model := line[0], line[1]
		p := Builtin().Find(provider, model, peak)
		if p == nil {
			continue
		}
		compared++
		second := table(t, "provider,models,input,cache_read,output,confirmed", strings.Join(append(line, "yes"), ",")).Find(provider, model, peak)
		equal := true
		for _, used := range []token.Counts{{Fresh: 1000}, {CacheRead: 1000}, {Answer: 1000}} {
			charge := Charge{Admitted: peak, Tokens: used}
			equal = equal && (used.CacheRead > 0 && line[3] == "" || nanos(t, second, charge) == nanos(t, p, charge))
		}
		reason := unequal[provider+"/"+model]
		assert.Equal(t, reason == "", equal, "%s %s %+v %s", provider, model, p.Base, reason)
	}
	assert.Greater(t, compared, 100)
}

// The names that vendors document, and those of their SDKs, had no price for up to two months after
// their release, so that keys with a budget could not use them.
func TestBuiltinPricesOfWidelyUsedNames(t *testing.T) {
	for provider, names := range map[string]string{
		"anthropic": "claude-fable-5-2 claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1",
		"openai": `gpt-6.2-astra gpt-6.2-sol gpt-6-cyber gpt-5.6-cyber gpt-daybreak-blue-latest gpt-daybreak-red-latest
			gpt-image-2 gpt-image-2.5-sunburst gpt-image-2.5-flare gpt-image-2.6-sunburst gpt-image-1-mini
			gpt-4o-transcribe gpt-4o-mini-transcribe omni-moderation-latest`,
		"gemini": `gemini-4-neon gemini-nano-banana-2.1 gemini-3-pro-image gemini-2.5-flash-image gemini-2.5-flash-preview-tts
			gemini-2.5-pro-preview-tts gemini-flash-latest gemini-flash-lite-latest gemini-pro-latest gemini-decision-1`,
		"vertex": `claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1 gemini-4-neon gemini-4-hydrogen gemini-4-carbon gemini-4-argon
			gemini-3.8-flash gemini-3.7-flash gemini-3.6-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3-pro-preview gemini-3.1-flash-lite
			text-embedding-005 gemini-3.1-flash-image`,
		"azure": `gpt-6-astra gpt-6-sol gpt-6-luna gpt-6.1-sol gpt-6.1-terra gpt-6.2-astra gpt-6.2-sol gpt-5.6
			claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1 claude-opus-4-7 text-embedding-ada-002
			gpt-image-2 gpt-image-2.5-sunburst gpt-6-cyber gpt-daybreak-blue-latest`,
		"bedrock": `us.anthropic.claude-sonnet-5-5 us.anthropic.claude-haiku-5-5 global.anthropic.claude-haiku-5-5 us.anthropic.claude-fable-5-1
			us.amazon.nova-2-lite-v1:0 us.amazon.nova-pro-v1:0 apac.amazon.nova-pro-v1:0 us.meta.llama3-3-70b-instruct-v1:0 us.deepseek.r1-v1:0
			openai.gpt-6-sol openai.gpt-6-luna us.meta.llama3-2-3b-instruct-v1:0 cohere.command-r-plus-v1:0`,
		"mistral":     "mistral-medium-latest mistral-large-latest",
		"groq":        "qwen/qwen3.8-27b",
		"cohere":      "rerank-v3.5 command-a-03-2025 command-a-plus-05-2026",
		"together":    "Qwen/Qwen3.8-2.4T-A95B deepseek-ai/DeepSeek-V4-Flash-0731",
		"xai":         "grok-4.20-beta",
		"openrouter":  "~openai/gpt-sol-latest ~x-ai/grok-latest",
		"moonshot":    "kimi-k3.1-pro kimi-k3.1-pro-highspeed kimi-k3 kimi-k2.7-code kimi-k2.6 kimi-k2.5 moonshot-v1-32k",
		"dashscope":   "qwen3.8-max qwen3.8-flash qwen3.7-max qwen3.7-plus qwen3.6-plus qwen-flash qwen-max kimi-k3 glm-5.3 deepseek-v4.1-flash",
		"zai":         "glm-5.3 glm-5.3-flash glm-5.2 glm-5.1 glm-5-turbo glm-4.7 glm-4.6 glm-4.5-air",
		"minimax":     "MiniMax-M3.1-Flash MiniMax-M3 MiniMax-M2.7 MiniMax-M2.7-highspeed MiniMax-M2.5 MiniMax-M2",
		"siliconflow": "moonshotai/Kimi-K3 zai-org/GLM-5.3 zai-org/GLM-5.3-Flash MiniMaxAI/MiniMax-M3 Qwen/Qwen3.8-2.4T-A95B",
		"fireworks": `accounts/fireworks/models/kimi-k3p1-pro accounts/fireworks/models/glm-5p3 accounts/fireworks/models/deepseek-v4p1-flash
			accounts/fireworks/models/qwen3p8-max accounts/fireworks/routers/glm-latest accounts/fireworks/models/gpt-oss-120b`,
		"deepinfra": "deepseek-ai/DeepSeek-V4.1-Flash zai-org/GLM-5.3 moonshotai/Kimi-K3 Qwen/Qwen3.8-2.4T-A95B openai/gpt-oss-120b BAAI/bge-m3",
		"cerebras":  "gpt-oss-120b qwen-3.8-27b gemma-4-31b",
	} {
		for name := range strings.FieldsSeq(names) {
			assert.NotNil(t, Builtin().Find(provider, name, admitted), "%s %s", provider, name)
		}
	}
}

// No source states a price of these names, or it is one of units that no column has.
func TestNamesWithoutABuiltinPrice(t *testing.T) {
	for reason, names := range map[string]string{
		"no source has a price":                     "openai/gpt-6.2-astra-law openai/gpt-6-rosalind openai/gpt-rosalind-research openai/gpt-5.1-mini gemini/gemini-3.5-transcribe anthropic/claude-mythos-5-2 azure/whisper",
		"only the price of its images has a source": "openai/gpt-image-2.6-flare",
		"retired":                                   "openai/dall-e-2 openai/dall-e-3 anthropic/claude-mythos-preview",
		"no source of its prices was read":          "openai/gpt-audio openai/gpt-audio-mini",
		"its answers of speech do not state tokens": "openai/gpt-4o-mini-tts",
		"video and text have different prices":      "gemini/gemini-omni-flash-preview",
		"charged by the page":                       "mistral/mistral-ocr-latest",
		"has more than two prices by its length":    "dashscope/qwen3.7-flash dashscope/qwen3-coder-plus",
		"its answer costs more while it thinks":     "dashscope/qwen-plus",
		"the service publishes no prices":           "nvidia/nvidia/nemotron-3-ultra-550b-a55b",
	} {
		for name := range strings.FieldsSeq(names) {
			provider, model, _ := strings.Cut(name, "/")
			assert.Nil(t, Builtin().Find(provider, model, admitted), "%s: %s", name, reason)
		}
	}
}
