package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// named is an event of a server that names items by their ids alone.
func named(name, id, members string) string {
	return eventOf("response."+name, fmt.Sprintf(`"item_id":%q,%s`, id, members))
}

func begins(item string) string { return eventOf("response.output_item.added", `"item":`+item) }

func finished(item string) string { return eventOf("response.output_item.done", `"item":`+item) }

// Every event without an index belonged to the item with index 0, so that the events that end
// the items, which come last, looked like new items: the thought, the text and the calls came
// twice, and clients ran the tools twice.
func TestItemsWithoutAnIndexAreFoundByTheirIDs(t *testing.T) {
	const second = `{"type":"function_call","id":"fc_2","call_id":"call_2","name":"g","arguments":"{\"x\":1}"}`
	saidText := `{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"a\n "}]}`
	thoughtText := `{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm."}],"encrypted_content":""}`
	assert.Equal(t,
		content("tools", `reasoning "hm"`, `reasoning "."`, "reasoning end", `text "a"`, `text "\n "`,
			`tool 0 "call_1" "f"`, `tool 1 "call_2" "g"`, `args 1 "{\"x\":1}"`, "text end", `args 0 "{}"`, "tool end 0", "tool end 1"),
		parse([]string{
			created,
			begins(thought), named("reasoning_text.delta", "rs_1", `"delta":"hm"`), named("reasoning_text.delta", "rs_1", `"delta":"."`),
			begins(message), named("output_text.delta", "msg_1", `"delta":"a"`), named("output_text.delta", "msg_1", `"delta":"\n "`),
			begins(call), begins(`{"type":"function_call","id":"fc_2","call_id":"call_2","name":"g","arguments":""}`),
			named("function_call_arguments.delta", "fc_2", `"delta":"{\"x\":1}"`),
			finished(thoughtText),
			named("output_text.done", "msg_1", `"text":"a\n "`), finished(saidText), finished(call), finished(second),
			ends(`[` + thoughtText + `,` + saidText + `,` + call + `,` + second + `]`),
		}, true))
}

// Older versions of the server name a call by its call_id.
func TestCallsWithoutAnIDAreFoundByTheirCallID(t *testing.T) {
	callOf := func(id, arguments string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"f","arguments":%q}`, id, arguments)
	}
	assert.Equal(t,
		content("tools", `tool 0 "fc_1" "f"`, `args 0 "{\"x\":1}"`, `tool 1 "fc_2" "f"`, `args 1 "{\"x\":2}"`, "tool end 0", "tool end 1"),
		parse([]string{
			created,
			begins(callOf("fc_1", "")), named("function_call_arguments.delta", "fc_1", `"delta":"{\"x\":1}"`),
			begins(callOf("fc_2", "")), named("function_call_arguments.delta", "fc_2", `"delta":"{\"x\":2}"`),
			finished(callOf("fc_1", `{"x":1}`)), finished(callOf("fc_2", `{"x":2}`)),
			ends(`[` + callOf("fc_1", `{"x":1}`) + `,` + callOf("fc_2", `{"x":2}`) + `]`),
		}, true))
}

var (
	firstMessage  = `{"type":"message","id":"m1","content":[]}`
	secondMessage = `{"type":"message","id":"m2","content":[]}`
)

func messageOf(id, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"content":[{"type":"output_text","text":%q}]}`, id, text)
}

// The deltas of items that alternate were sent as they came: clients got blank lines within a
// text, or two texts mixed.
func TestItemsThatInterleaveAreReadOneAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   []string
	}{
		{
			"a message and reasoning",
			response(added(0, thought), added(1, firstMessage), text(1, 0, "T"), text(1, 0, "Z"), thinks(0, 0, "a"), text(1, 0, "X"), thinks(0, 0, "b"), done(1, messageOf("m1", "TZX")), thinks(0, 0, "c"), done(0, thought)),
			content("stop", `text "T"`, `text "Z"`, `text "X"`, "text end", `reasoning "a"`, `reasoning "b"`, `reasoning "c"`, "reasoning end"),
		},
		{
			"two messages and a call behind them",
			response(added(0, firstMessage), added(1, secondMessage), text(0, 0, "a"), text(1, 0, "x"), added(2, call), text(0, 0, "b"), args(2, "{}"), text(1, 0, "y"), done(2, call), done(1, messageOf("m2", "xyz")), done(0, messageOf("m1", "ab"))),
			content("tools", `text "a"`, `text "b"`, "text end", `text "x"`, `text "y"`, `text "z"`, "text end", `tool 0 "call_1" "f"`, `args 0 "{}"`, "tool end 0"),
		},
		{
			"items that never end",
			response(added(0, firstMessage), added(1, secondMessage), added(2, thought), text(0, 0, "a"), text(1, 0, "x"), thinks(2, 0, "t"), text(1, 0, "y"), text(0, 0, "b")),
			content("stop", `text "a"`, `text "b"`, "text end", `text "x"`, `text "y"`, "text end", `reasoning "t"`, "reasoning end"),
		},
		{
			"items that only the response holds whole",
			append([]string{created, added(0, firstMessage), added(1, secondMessage), text(0, 0, "a"), text(1, 0, "x")}, ends(`[`+messageOf("m1", "ab")+`,`+messageOf("m2", "xy")+`]`)),
			content("stop", `text "a"`, `text "b"`, "text end", `text "xy"`, "text end"),
		},
		{
			"a stream that breaks off",
			[]string{created, added(0, firstMessage), added(1, secondMessage), text(0, 0, "a"), text(1, 0, "x")},
			[]string{begin, `text "a"`, cutOff},
		},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, parse(c.events, true)) })
	}
}

// Without indexes nothing says whether the items interleave or were only not ended.
func TestItemsThatInterleaveWithoutAnIndexAreAFault(t *testing.T) {
	assert.Equal(t, []string{begin, `reasoning "a"`, "reasoning end", `text "x"`, unread}, parse([]string{
		created, begins(thought), named("reasoning_text.delta", "rs_1", `"delta":"a"`),
		begins(message), named("output_text.delta", "msg_1", `"delta":"x"`),
		named("reasoning_text.delta", "rs_1", `"delta":"b"`), ends("[]"),
	}, true))
}

func TestWhatWaitsBehindAnItemIsBounded(t *testing.T) {
	events := []string{created, added(0, firstMessage), added(1, secondMessage), text(0, 0, "a")}
	for range 5 {
		events = append(events, text(1, 0, strings.Repeat("x", 1<<20)))
	}
	assert.Equal(t, []string{begin, `text "a"`, unread}, parse(append(events, ends("[]")), true))
}

// A status that is null or no string, and the end of a response that is not complete, made a
// whole answer.
func TestOnlyACompleteResponseEndsAnAnswer(t *testing.T) {
	for _, status := range []string{"null", "7", "{}", "true", `"weird"`, `"in_progress"`, `"queued"`} {
		t.Run(status, func(t *testing.T) {
			members := `"status":` + status + `,"output":[` + messageOf("m", "a") + `]`
			end := eventOf("response.completed", `"response":{`+members+`}`)
			assert.Equal(t, []string{begin, unread}, parse([]string{created, end}, true))
			assert.Equal(t, []string{unread}, parseAnswer(wholeAnswer(members)))
		})
	}
}
