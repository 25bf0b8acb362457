package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bases are the results that the others are compared with.
const bases = `goos: linux
BenchmarkDelta/chat_to_messages,_text-2         	   32200	       100.0 ns/op	 713.42 MB/s	       0 B/op	       0 allocs/op
BenchmarkAnswer/chat-messages-2                 	     174	     83699 ns/op	  100.00 MB/s	   19016 B/op	      24 allocs/op
BenchmarkRequest/messages-chat-2                	     122	     90393 ns/op	1000.00 MB/s	    3144 B/op	       6 allocs/op
`

func comparison(t *testing.T, results string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, compare(&out, strings.NewReader(results)))
	return out.String()
}

func TestTheQuickestOfManyPassesIsCompared(t *testing.T) {
	got := comparison(t, bases+`
BenchmarkAnswer/messages-chat-2   	     1	     1 ns/op	  20.00 MB/s
BenchmarkAnswer/messages-chat-2   	     1	     1 ns/op	  50.00 MB/s
BenchmarkAnswer/messages-chat-2   	     1	     1 ns/op	  40.00 MB/s
BenchmarkDelta/messages_to_chat,_text-2	     1	     150 ns/op	  1.00 MB/s
BenchmarkDelta/messages_to_chat,_text-2	     1	     50.0 ns/op	  1.00 MB/s
PASS
`)
	assert.Contains(t, got, "\n2.00 BenchmarkAnswer/messages-chat\n")
	assert.Contains(t, got, "\n0.50 BenchmarkDelta/messages_to_chat,_text\n")
}

func TestWhatTakesMoreThanTwiceAsLongIsMarked(t *testing.T) {
	got := comparison(t, bases+"BenchmarkRequest/chat-messages-2 1 1 ns/op 400.00 MB/s\n")
	assert.Equal(t, `1.00 BenchmarkDelta/chat_to_messages,_text
1.00 BenchmarkAnswer/chat-messages
1.00 BenchmarkRequest/messages-chat
2.50 BenchmarkRequest/chat-messages MORE THAN TWICE
`, got)
}

func TestOnlyDeltasOfTextAreCompared(t *testing.T) {
	got := comparison(t, bases+"BenchmarkDelta/chat_to_messages,_reasoning-2 1 900 ns/op 1.00 MB/s\nBenchmarkOther/chat-2 1 1 ns/op\n")
	assert.NotContains(t, got, "reasoning")
	assert.NotContains(t, got, "Other")
}

func TestResultsThatCannotBeComparedAreAnError(t *testing.T) {
	for name, c := range map[string]struct{ results, want string }{
		"none":         {"PASS\n", "no result of Benchmark"},
		"no base":      {strings.Replace(bases, "messages-chat", "chat-messages", 1), "no result of BenchmarkRequest/messages-chat"},
		"no rate":      {bases + "BenchmarkAnswer/messages-chat-2 1 1 ns/op\n", "reading BenchmarkAnswer/messages-chat: no value in MB/s"},
		"no speed":     {bases + "BenchmarkAnswer/messages-chat-2 1 1 ns/op 0.00 MB/s\n", "is not positive"},
		"not a number": {bases + "BenchmarkAnswer/messages-chat-2 1 1 ns/op fast MB/s\n", "invalid syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, compare(new(strings.Builder), strings.NewReader(c.results)), c.want)
		})
	}
}
