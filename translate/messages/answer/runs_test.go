package answer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// usages returns the usage of an answer as each reader reads it: from a whole answer, from
// the last report of a stream, and for a translation.
func usages(t *testing.T, usage string) map[string]token.Usage {
	const head = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":`
	whole, fault := answer.Inspect([]byte(head+`"end_turn","usage":`+usage+`}`), translate.Generate)
	require.Nil(t, fault)
	observer, parsed := answer.NewObserver(), new(lastUsage)
	parser := answer.NewParser(parsed)
	for _, data := range []string{
		`{"type":"message_start","message":` + head + `null,"usage":{"input_tokens":1,"output_tokens":1,"iterations":null}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + usage + `}`,
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":5}}`,
		`{"type":"message_stop"}`,
	} {
		observer.Observe(sse.Event{Data: []byte(data)})
		parser.Event(sse.Event{Data: []byte(data)})
	}
	return map[string]token.Usage{"whole": whole.Usage, "stream": observer.Usage(), "translated": parsed.Usage}
}

// lastUsage keeps the last usage in core events.
type lastUsage struct{ token.Usage }

func (u *lastUsage) Handle(e *event.Event) {
	if e.Usage != nil {
		u.Usage = *e.Usage
	}
}

// The provider charges for each run of a model that it lists, but its counts are of the runs
// that have written the answer. The others, such as the compaction of a long conversation,
// cost nothing.
func TestRunsBesideTheAnswerAreRead(t *testing.T) {
	count := func(input, output int64) token.Usage {
		return token.Usage{Counts: token.Counts{Fresh: input, Answer: output}, Known: true}
	}
	many := strings.Repeat(`{"type":"compaction","input_tokens":100,"output_tokens":1},`, 40)
	for name, c := range map[string]struct {
		usage string
		want  []token.Run
	}{
		"a summary": {`{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":50000,"output_tokens":3000},{"type":"message","input_tokens":10,"output_tokens":5}]}`,
			[]token.Run{{Usage: count(50_000, 3000)}}},
		"before the counts": {`{"iterations":[{"input_tokens":50000,"output_tokens":3000,"type":"compaction"},{"type":"message","input_tokens":4,"output_tokens":2},{"input_tokens":6,"output_tokens":3}],"input_tokens":10,"output_tokens":5}`,
			[]token.Run{{Usage: count(50_000, 3000)}}},
		"caches, searches, another model": {`{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"advisor_message","model":"other\u002d1","input_tokens":1,"cache_read_input_tokens":2,
			"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":3},"output_tokens":4,"server_tool_use":{"web_search_requests":9}},{"type":"message","input_tokens":10,"output_tokens":5}]}`,
			[]token.Run{{Usage: token.Usage{Counts: token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 4, CacheWriteLong: 3, Answer: 4}, Known: true}, Model: "other-1"}}},
		"the answer alone":  {`{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"message","input_tokens":10,"output_tokens":5}]}`, nil},
		"none":              {`{"input_tokens":10,"output_tokens":5,"iterations":[]}`, nil},
		"null":              {`{"input_tokens":10,"output_tokens":5,"iterations":null}`, nil},
		"no list":           {`{"input_tokens":10,"output_tokens":5,"iterations":{"type":"compaction","input_tokens":7}}`, nil},
		"no objects":        {`{"input_tokens":10,"output_tokens":5,"iterations":[7,"x"]}`, nil},
		"in the counts too": {`{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":6,"output_tokens":2},{"type":"message","input_tokens":4,"output_tokens":3}]}`, nil},
		"very many": {`{"input_tokens":10,"output_tokens":5,"iterations":[` + many + `{"type":"message","input_tokens":10,"output_tokens":5}]}`,
			append(repeat(15, token.Run{Usage: count(100, 1)}), token.Run{Usage: count(2500, 25)})},
	} {
		for reader, got := range usages(t, c.usage) {
			assert.Equal(t, c.want, got.Beside, "%s, %s", name, reader)
			assert.False(t, got.Inconsistent, "%s, %s", name, reader)
			assert.EqualValues(t, 15, got.Total(), "%s, %s: what clients see", name, reader)
		}
	}
}

func repeat(n int, run token.Run) (runs []token.Run) {
	for range n {
		runs = append(runs, run)
	}
	return runs
}

// Answers without a list of runs are most answers.
func TestUsageWithoutRunsTakesNoMemory(t *testing.T) {
	data := []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":3}}`)
	observer := answer.NewObserver()
	assert.Zero(t, testing.AllocsPerRun(100, func() { observer.Observe(sse.Event{Data: data}) }))
}

// The provider charges for the summary of a conversation that its client has got, even if the
// client leaves before the counts.
func TestTheTextOfASummaryCountsAsTextOfTheAnswer(t *testing.T) {
	observer := answer.NewObserver()
	for _, data := range []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"` + strings.Repeat("word ", 800) + `"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"` + strings.Repeat("word ", 800) + `"}}`,
	} {
		observer.Observe(sse.Event{Data: []byte(data)})
	}
	assert.EqualValues(t, 2000, observer.Text().Tokens())
}
