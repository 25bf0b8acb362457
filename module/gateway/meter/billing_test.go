package meter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

const (
	messagesAnswer  = `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":`
	chatAnswer      = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],`
	completion      = `{"id":"c","object":"text_completion","model":"m","choices":[{"index":0,"text":"Hi","finish_reason":"stop"}],`
	geminiAnswer    = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"modelVersion":"m","usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,`
	responsesAnswer = `{"id":"r","object":"response","status":"completed","model":"m","error":null,"output":[{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],`
)

// billed contains answers for each kind of price, in the formats that report its usage.
var billed = map[string]struct {
	format  translate.Format
	answer  string
	columns map[string]string
	nanos   int64
}{
	"cache lifetimes and searches": {
		translate.Messages, messagesAnswer + `{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":30,"cache_creation_input_tokens":15,
			"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":5},"server_tool_use":{"web_search_requests":2}}}`,
		map[string]string{"input": "1", "cache_read": "0.1", "cache_write": "2", "cache_write_1h": "4", "output": "8", "search": "0.01"},
		10*1000 + 30*100 + 10*2000 + 5*4000 + 20*8000 + 2*10_000_000,
	},
	"L015 speed and region": {
		translate.Messages, messagesAnswer + `{"input_tokens":10,"output_tokens":20,"service_tier":"standard","speed":"fast","inference_geo":"us"}}`,
		map[string]string{"input": "1", "output": "5", "fast": "2", "us": "1.1"}, (10*1000 + 20*5000) * 22 / 10,
	},
	"batches": {
		translate.Messages, messagesAnswer + `{"input_tokens":10,"output_tokens":20,"service_tier":"batch","speed":null,"inference_geo":"not_available"}}`,
		map[string]string{"input": "1", "output": "5", "batch": "0.5"}, (10*1000 + 20*5000) / 2,
	},
	"priority in chat": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30},"service_tier":"priority"}`,
		map[string]string{"input": "1", "output": "5", "priority": "2"}, (10*1000 + 20*5000) * 2,
	},
	"flex in chat, before the usage": {
		translate.Chat, `{"service_tier":"flex",` + chatAnswer[1:] + `"usage":{"prompt_tokens":10,"completion_tokens":20}}`,
		map[string]string{"input": "1", "output": "5", "flex": "0.5"}, (10*1000 + 20*5000) / 2,
	},
	"cached in chat": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},
			"completion_tokens_details":{"reasoning_tokens":15}},"service_tier":"default"}`,
		map[string]string{"input": "1", "cache_read": "0.1", "cache_write": "1.25", "output": "5", "reasoning": "6"},
		10*1000 + 60*100 + 30*1250 + 5*5000 + 15*6000,
	},
	"hits of DeepSeek": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40,"total_tokens":120}}`,
		map[string]string{"input": "1", "cache_read": "0.1", "output": "5"}, 40*1000 + 60*100 + 20*5000,
	},
	"L007 reasoning of Gemini, which only the total includes": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":910}}`,
		map[string]string{"input": "1", "output": "5"}, 100*1000 + 810*5000,
	},
	"reasoning of xAI, which completion_tokens does not include": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":910,"prompt_tokens_details":{"cached_tokens":50},
			"completion_tokens_details":{"reasoning_tokens":800}}}`,
		map[string]string{"input": "1", "cache_read": "1", "output": "5"}, 100*1000 + 810*5000,
	},
	"a long prompt": {
		translate.Completions, completion + `"usage":{"prompt_tokens":200001,"completion_tokens":20}}`,
		map[string]string{"input": "1", "output": "5", "edge": ">200000", "input_above": "2", "output_above": "8"}, 200_001*2000 + 20*8000,
	},
	"sound in a prompt of Gemini": {
		translate.Gemini, geminiAnswer + `"promptTokensDetails":[{"modality":"AUDIO","tokenCount":90},{"modality":"TEXT","tokenCount":10}]}}`,
		map[string]string{"input": "1", "output": "5", "audio_input": "3"}, 10*1000 + 90*3000 + 20*5000,
	},
	"sound that Gemini has read from a cache": {
		translate.Gemini, geminiAnswer + `"cachedContentTokenCount":90,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":90}],"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":90}]}}`,
		map[string]string{"input": "1", "cache_read": "0.1", "output": "5", "audio_input": "3"}, 10*1000 + 90*300 + 20*5000,
	},
	"cached sound in chat": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":90,"audio_tokens":90,"cached_tokens_details":{"audio_tokens":90}}}}`,
		map[string]string{"input": "1", "cache_read": "0.1", "output": "5", "audio_input": "3", "audio_cache_read": "0.2"}, 10*1000 + 90*200 + 20*5000,
	},
	"a recording for a model of Mistral": {
		translate.Chat, chatAnswer + `"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_audio_seconds":90}}`,
		map[string]string{"input": "1", "output": "5", "minute": "0.004"}, 100*1000 + 20*5000 + 6_000_000,
	},
	"searches of X": {
		translate.Responses, responsesAnswer + `"usage":{"input_tokens":100,"output_tokens":20,"server_side_tool_usage_details":{"web_search_calls":1,"x_search_calls":2}}}`,
		map[string]string{"input": "1", "output": "5", "search": "0.005"}, 100*1000 + 20*5000 + 3*5_000_000,
	},
	"searches in the use of tools": {
		translate.Responses, responsesAnswer + `"tool_usage":{"web_search":{"num_requests":2}},"usage":{"input_tokens":100,"output_tokens":20}}`,
		map[string]string{"input": "1", "output": "5", "search": "0.01"}, 100*1000 + 20*5000 + 2*10_000_000,
	},
	"flex in responses": {
		translate.Responses, responsesAnswer + `"service_tier":"flex","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},
			"output_tokens":20,"output_tokens_details":{"reasoning_tokens":15},"total_tokens":120}}`,
		map[string]string{"input": "1", "cache_read": "0.1", "cache_write": "2", "output": "5", "flex": "0.5"},
		(10*1000 + 60*100 + 30*2000 + 20*5000) / 2,
	},
}

// Every kind of price has an effect on the cost of an answer. The factors of service tiers,
// speeds and regions once had none.
func TestAnswersReachEveryKindOfPrice(t *testing.T) {
	for name, c := range billed {
		for lane, read := range map[string]func(*testing.T, translate.Format, string) token.Usage{
			"whole": wholeUsage, "translated": translatedUsage, "stream": streamUsage,
		} {
			t.Run(name+" "+lane, func(t *testing.T) {
				l := new(pages)
				ex, m := begun(t, l, priceOf(t, c.columns))
				ex.Course.Result = &exchange.Result{State: exchange.Finished, Usage: read(t, c.format, c.answer)}
				m.Settle(ex, exchange.Answered)
				assert.Equal(t, aigateway.Cost{Nanos: c.nanos, Currency: "USD"}, l.ended[0].Calls[0].Cost)
			})
		}
	}
}

// wholeUsage returns the usage that the byte lane reads from an answer.
func wholeUsage(t *testing.T, format translate.Format, answer string) token.Usage {
	read, fault := formats.Of(format).Answers.Inspect([]byte(answer), translate.Generate)
	require.Nil(t, fault)
	return read.Usage
}

// streamUsage returns the usage that the byte lane reads from the stream of an answer.
func streamUsage(t *testing.T, format translate.Format, answer string) token.Usage {
	translator := pairs.NewTranslator(format, format, &translate.AnswerContext{Stream: true, IncludeUsage: true}, translate.IDs{})
	require.Nil(t, translator.Answer([]byte(answer)))
	stream := translator.Output()
	if format == translate.Gemini { // an event is an answer, whose details the gateway writes to no client
		stream = []byte("data: " + answer + "\n\n")
	}
	observer := formats.Of(format).Answers.NewObserver()
	lexer := sse.NewLexer(1 << 20)
	lexer.Feed(stream)
	for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
		observer.Observe(e)
	}
	return observer.Usage()
}

// lastUsage keeps the last usage in the core events of an answer.
type lastUsage struct{ token.Usage }

func (u *lastUsage) Handle(e *event.Event) {
	if e.Usage != nil {
		u.Usage = *e.Usage
	}
}

// translatedUsage returns the usage that a translation reads from an answer.
func translatedUsage(_ *testing.T, format translate.Format, answer string) token.Usage {
	var last lastUsage
	formats.Of(format).Answers.NewParser(&last).Answer([]byte(answer))
	return last.Usage
}
