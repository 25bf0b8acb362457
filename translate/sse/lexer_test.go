package sse_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// remember copies an event.
func remember(e sse.Event) event {
	return event{string(e.Name), string(e.Data), e.Start, e.End}
}

// quoted is the text of data, for a template.
var quoted = regexp.MustCompile(`"[^"\\\x00-\x1f]+"`)

// lex reads a stream in feeds of the sizes that next returns, each of which is
// spoilt as soon as the lexer must not rely on it any more.
func lex(t testing.TB, l *sse.Lexer, stream string, next func() int) (events []event) {
	var template sse.Template
	var learned event
	var text []int // in its data
	learn := func(e sse.Event) {
		template.Forget()
		if text = quoted.FindIndex(e.Data); text != nil {
			learned = remember(e)
			template.Learn(e, jsonscan.Slot{Start: text[0], End: text[1]})
		}
	}
	repeat := func() bool {
		start := l.Settled()
		raw, ok := template.Next(l)
		if ok {
			data := learned.Data[:text[0]] + string(raw.Raw) + learned.Data[text[1]:]
			events = append(events, event{learned.Name, data, start, l.Settled()})
		}
		return ok
	}
	take := func(e sse.Event, ok bool) bool {
		if ok {
			assert.Equal(t, e.End, l.Settled())
			events = append(events, remember(e))
			learn(e)
		}
		return ok
	}
	for rest := stream; rest != ""; {
		n := min(max(next(), 0), len(rest))
		feed := []byte(rest[:n])
		rest = rest[n:]
		l.Feed(feed)
		for repeat() || take(l.Next()) {
		}
		copy(feed, bytes.Repeat([]byte("#"), n))
		assert.Equal(t, int64(len(stream)-len(rest)), l.Offset())
	}
	for take(l.Close()) {
	}
	return events
}

// whole is the size of a feed that holds any stream of these tests.
func whole() int { return 1 << 30 }

// streams are streams of every kind, with what a reader must see in them.
var streams = map[string]struct {
	stream string
	events []event
}{
	"nothing":                      {"", nil},
	"one event":                    {"data: a\n\n", []event{{"", "a", 0, 9}}},
	"a name":                       {"event: e\ndata: a\n\n", []event{{"e", "a", 0, 18}}},
	"CRLF":                         {"event: e\r\ndata: a\r\n\r\n", []event{{"e", "a", 0, 21}}},
	"CR":                           {"event: e\rdata: a\r\r", []event{{"e", "a", 0, 18}}},
	"mixed line ends":              {"event: e\rdata: a\ndata: b\r\n\rdata: c\n\r\ndata: d\r\n\n", []event{{"e", "a\nb", 0, 27}, {"", "c", 27, 37}, {"", "d", 37, 47}}},
	"CR LF LF is CRLF and LF":      {"data: a\r\n\n", []event{{"", "a", 0, 10}}},
	"LF CR is two ends":            {"data: a\n\rdata: b\n\n", []event{{"", "a", 0, 9}, {"", "b", 9, 18}}},
	"CR CR LF is CR and CRLF":      {"data: a\r\r\ndata: b\n\n", []event{{"", "a", 0, 10}, {"", "b", 10, 19}}},
	"no space":                     {"data:a\n\n", []event{{"", "a", 0, 8}}},
	"only one space is removed":    {"data:  a \n\n", []event{{"", " a ", 0, 11}}},
	"several data lines":           {"data: a\ndata:\ndata: b\n\n", []event{{"", "a\n\nb", 0, 23}}},
	"texts alike":                  {"event: e\ndata: {\"a\"}\n\nevent: e\ndata: {\"b\"}\n\ndata: {\"c\"}\n\ndata: {\"d\"}\n: d\n\n", []event{{"e", `{"a"}`, 0, 22}, {"e", `{"b"}`, 22, 44}, {"", `{"c"}`, 44, 57}, {"", `{"d"}`, 57, 74}}},
	"a line break beside a text":   {"data: {\ndata: \"a\"}\n\ndata: {\n\"b\"}\n\n", []event{{"", "{\n\"a\"}", 0, 20}, {"", "{", 20, 34}}},
	"empty data":                   {"data:\n\n", []event{{"", "", 0, 7}}},
	"data without a colon":         {"data\ndata\n\n", []event{{"", "\n", 0, 11}}},
	"the last name counts":         {"event: x\ndata: a\nevent: y\n\n", []event{{"y", "a", 0, 27}}},
	"an empty name is none":        {"event: x\nevent\ndata: a\n\n", []event{{"", "a", 0, 24}}},
	"a name lasts for its event":   {"event: x\ndata: a\n\ndata: b\n\n", []event{{"x", "a", 0, 18}, {"", "b", 18, 27}}},
	"an event without data":        {"event: x\n\ndata: b\n\n", []event{{"", "b", 10, 19}}},
	"blank lines":                  {"\n\r\n\rdata: b\n\n\n\n", []event{{"", "b", 4, 13}}},
	"comments":                     {": c\n:\ndata: a\n: c\n\n: d\n\ndata: b\n\n", []event{{"", "a", 0, 19}, {"", "b", 24, 33}}},
	"ignored fields":               {"id: 1\nretry: 5\nx\ndata: a\ndatax: n\nDATA: n\n data: n\n\n", []event{{"", "a", 0, 52}}},
	"a colon in the value":         {"data: {\"a\": 1}\n\n", []event{{"", `{"a": 1}`, 0, 16}}},
	"a byte order mark":            {"\ufeffdata: a\n\n", []event{{"", "a", 0, 12}}},
	"a second byte order mark":     {"\ufeff\ufeffdata: a\n\n", nil},
	"a later byte order mark":      {"data: a\n\n\ufeffdata: b\n\n", []event{{"", "a", 0, 9}}},
	"a mark before a blank line":   {"\ufeff\ndata: a\n\n", []event{{"", "a", 4, 13}}},
	"bytes beyond ASCII":           {"data: é世🙂\xff\x00\u2028\n\n", []event{{"", "é世🙂\xff\x00\u2028", 0, 22}}},
	"unterminated: done":           {"data: a\n\ndata: [DONE]", []event{{"", "a", 0, 9}, {"", "[DONE]", 9, 21}}},
	"unterminated: done, LF":       {"data: [DONE]\n", []event{{"", "[DONE]", 0, 13}}},
	"unterminated: done, CR":       {"data: [DONE]\r", []event{{"", "[DONE]", 0, 13}}},
	"unterminated: JSON":           {"event: e\ndata: {\"a\":[1]}", []event{{"e", `{"a":[1]}`, 0, 24}}},
	"unterminated: JSON, CRLF":     {"data: {}\r\n", []event{{"", "{}", 0, 10}}},
	"unterminated: JSON, lines":    {"data: {\ndata: }", []event{{"", "{\n}", 0, 15}}},
	"unterminated: JSON, comment":  {"data: {}\n: c", []event{{"", "{}", 0, 12}}},
	"unterminated: half of JSON":   {"data: {\"a\":[1]\n", nil},
	"unterminated: half of done":   {"data: [DONE", nil},
	"unterminated: invalid UTF-8":  {"data: \"\xff\"", nil},
	"unterminated: text":           {"data: text\n", nil},
	"unterminated: a name alone":   {"event: e\n", nil},
	"unterminated: no data":        {"data", nil},
	"unterminated: only a comment": {": c", nil},
	"unterminated: half a field":   {"data: {}\ndat", []event{{"", "{}", 0, 12}}},
}

func TestStreamsAreReadByTheRules(t *testing.T) {
	for name, tc := range streams {
		assert.Equal(t, tc.events, lex(t, sse.NewLexer(0), tc.stream, whole), name)
	}
}

func TestTheReferenceReadsByTheSameRules(t *testing.T) {
	for name, tc := range streams {
		assert.Equal(t, tc.events, reference(tc.stream), name)
	}
}

func TestAnyTwoFeedsGiveTheSameEvents(t *testing.T) {
	for name, tc := range streams {
		for cut := range len(tc.stream) + 1 {
			sizes := []int{cut, 0, len(tc.stream)}
			next := func() int { n := sizes[0]; sizes = append(sizes[1:], 1); return n }
			assert.Equal(t, tc.events, lex(t, sse.NewLexer(0), tc.stream, next), "%s, cut at %d", name, cut)
		}
	}
}

// conversation is a long stream whose line ends are chosen by ends.
func conversation(random *rand.Rand, ends ...string) string {
	lines := []string{"", "", "event: content_block_delta", "data: {\"n\":1}", "data: {\"m\":1}\n", "data:", "data", ": keep-alive", "id: 7",
		"data: " + strings.Repeat("long ", 40), "\ufeffdata: x", "event:", "event: " + strings.Repeat("e", 30)}
	var b strings.Builder
	for range 60 {
		b.WriteString(lines[random.IntN(len(lines))])
		b.WriteString(ends[random.IntN(len(ends))])
	}
	return b.String()
}

func TestAnyChunkingOfAnyLineEndsGivesTheSameEvents(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, ends := range [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n", "\r"}} {
		for range 15 {
			stream := conversation(random, ends...)
			want := reference(stream)
			for _, most := range []int{1, 2, 3, 10, 100, 1000} {
				next := func() int { return random.IntN(most + 1) }
				require.Equal(t, want, lex(t, sse.NewLexer(0), stream, next), "%q in feeds of up to %d", stream, most)
			}
		}
	}
}

func TestAnEventIsDeliveredWithTheByteThatCompletesIt(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 15 {
		stream := conversation(random, "\n", "\r\n", "\r")
		l := sse.NewLexer(0)
		for i := range len(stream) {
			l.Feed([]byte{stream[i]})
			for e, ok := l.Next(); ok; e, ok = l.Next() {
				late := l.Offset() - e.End
				// Behind a CR one more byte must be seen.
				assert.True(t, late == 0 || late == 1 && stream[e.End-1] == '\r', "%d bytes late in %q", late, stream)
			}
		}
	}
}

func TestAnEventWithinOneFeedIsNotCopied(t *testing.T) {
	feed := []byte("event: e\ndata: {}\n\n")
	l := sse.NewLexer(0)
	l.Feed(feed)
	e, ok := l.Next()
	require.True(t, ok)
	assert.Same(t, &feed[7], &e.Name[0])
	assert.Same(t, &feed[15], &e.Data[0])
}

func TestFeedingBeforeNextIsDoneLosesNothing(t *testing.T) {
	l := sse.NewLexer(0)
	l.Feed([]byte("data: a\n\ndata: b"))
	l.Feed([]byte("c\n\nda"))
	e, ok := l.Next()
	require.True(t, ok)
	assert.Equal(t, event{"", "a", 0, 9}, remember(e))
	l.Feed([]byte("ta: d\n\n"))
	e, ok = l.Next()
	require.True(t, ok)
	assert.Equal(t, event{"", "bc", 9, 19}, remember(e))
	e, ok = l.Next()
	require.True(t, ok)
	assert.Equal(t, event{"", "d", 19, 28}, remember(e))
	_, ok = l.Next()
	assert.False(t, ok)
}

func TestCloseFirstReturnsWhatNextWouldHave(t *testing.T) {
	l := sse.NewLexer(0)
	l.Feed([]byte("data: 1\n\ndata: 2\n\ndata: 3"))
	var got []string
	for e, ok := l.Close(); ok; e, ok = l.Close() {
		got = append(got, string(e.Data))
	}
	assert.Equal(t, []string{"1", "2", "3"}, got)
}

func TestSettledIsAfterTheLastBlankLine(t *testing.T) {
	l := sse.NewLexer(0)
	for _, step := range []struct {
		feed    string
		settled int64
	}{
		{": ping", 0}, {"\n", 0}, {"\n", 8}, {"event: x\n", 8}, {"\n", 18}, {"data: half", 18},
	} {
		l.Feed([]byte(step.feed))
		_, ok := l.Next()
		assert.False(t, ok)
		assert.Equal(t, step.settled, l.Settled(), step.feed)
	}
	_, ok := l.Close()
	assert.False(t, ok)
	assert.EqualValues(t, 18, l.Settled(), "what was cut off is not settled")
}

// A bug was here: comments and fields outside of events were not counted, so that a relay
// which kept the bytes of an event until its end kept all of them.
func TestEventsAreBounded(t *testing.T) {
	const limit = 20
	for name, tc := range map[string]struct {
		stream string
		events int
		fails  bool
	}{
		"an event of the limit":         {"data: 123456789012\n\n", 1, false},
		"an event beyond the limit":     {"data: 1234567890123\n\n", 0, true},
		"lines of the limit":            {"event: 123\ndata: 1\n\n", 1, false},
		"lines beyond the limit":        {"event: 123\ndata: 12\n\n", 0, true},
		"a long comment":                {":" + strings.Repeat(" ", limit) + "\n\n", 0, true},
		"a line that never ends":        {strings.Repeat("x", 10*limit), 0, true},
		"an event that never ends":      {strings.Repeat("data\n", 10), 0, true},
		"comments of the limit":         {":1234567\ndata: 123\n\n", 1, false},
		"comments that never end":       {strings.Repeat(":\n", 10*limit) + "data: 1\n\n", 0, true},
		"ignored fields that never end": {"data: 1\n" + strings.Repeat("id: 1\n", 10*limit) + "\n", 0, true},
		"many comments":                 {strings.Repeat(":\n\n", 10*limit) + "data: 1\n\n", 1, false},
		"many small events":             {strings.Repeat("data: 1\r\n\r\n", 10*limit), 10 * limit, false},
		"a large event after small":     {"data: 1\n\ndata: 2\n\ndata: 1234567890123\n\n", 2, true},
		"a large text after a small":    {"data: \"1\"\n\ndata: \"2\"\n\ndata: \"12345678901\"\n\n", 2, true},
		"a text of the limit":           {"data: \"1\"\n\ndata: \"1234567890\"\n\n", 2, false},
		"an event after a large one":    {"data: 1234567890123\n\ndata: 2\n\n", 0, true},
		"a large event, unterminated":   {"data: [\ndata: 123456]", 0, true},
		"the limit, unterminated":       {"data: [\ndata: 12345]", 1, false},
		"the limit, ended by a CR":      {"data: 123456789012\r\r", 1, false},
		"the limit, ended by CR and LF": {"data: 1234567890\r\n\r\n", 1, false},
	} {
		for _, size := range []int{1, 2, 3, 7, 1000} {
			l := sse.NewLexer(limit)
			events := lex(t, l, tc.stream, func() int { return size })
			assert.Len(t, events, tc.events, "%s in feeds of %d", name, size)
			if !tc.fails {
				assert.NoError(t, l.Err(), "%s in feeds of %d", name, size)
				continue
			}
			assert.ErrorIs(t, l.Err(), sse.ErrTooLarge, "%s in feeds of %d", name, size)
			l.Feed([]byte("\n\ndata: 1\n\n"))
			_, ok := l.Next()
			assert.False(t, ok, "nothing follows an error")
			_, ok = l.Close()
			assert.False(t, ok, "nothing follows an error")
		}
	}
}

func TestTheDefaultLimitIsLarge(t *testing.T) {
	l := sse.NewLexer(0)
	feed := bytes.Repeat([]byte("x"), 1<<20)
	for range sse.DefaultMaxEvent >> 20 {
		l.Feed(feed)
		_, ok := l.Next()
		require.False(t, ok)
		require.NoError(t, l.Err())
	}
	l.Feed([]byte("x"))
	l.Next()
	assert.ErrorIs(t, l.Err(), sse.ErrTooLarge)
}

// A search that began anew with each feed or each line would take minutes here.
func TestLongLinesAndManyLinesAreReadInLinearTime(t *testing.T) {
	l := sse.NewLexer(0)
	l.Feed([]byte("data: "))
	for range 1 << 20 {
		l.Feed([]byte("x"))
		l.Next()
	}
	l.Feed([]byte("\n\n"))
	e, ok := l.Next()
	require.True(t, ok)
	assert.Len(t, e.Data, 1<<20)

	for _, end := range []string{"\n", "\r"} {
		l = sse.NewLexer(0)
		l.Feed([]byte(strings.Repeat("data: 1"+end+end, 1<<18) + "."))
		n := 0
		for _, ok := l.Next(); ok; _, ok = l.Next() {
			n++
		}
		assert.Equal(t, 1<<18, n)
	}
}

func TestTheSteadyStateAllocatesNothing(t *testing.T) {
	var stream []byte
	for i := range 50 {
		stream = sse.AppendEvent(stream, "content_block_delta", fmt.Appendf(nil, `{"index":%d}`, i))
		stream = append(stream, "data: a\r\ndata: b\r\n\r\n"...)
	}
	half := len(stream)/2 + 3
	l := sse.NewLexer(0)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		n := 0
		for _, feed := range [][]byte{stream[:half], stream[half:]} {
			l.Feed(feed)
			for _, ok := l.Next(); ok; _, ok = l.Next() {
				n++
			}
		}
		if n != 100 {
			t.Fatal(n)
		}
	}))
}

// Such an error was ignored like an unknown field, so that the stream only seemed to break off.
func TestJSONWithoutAFieldBehindTheLastEventIsRead(t *testing.T) {
	for stream, want := range map[string]string{
		"data: a\n\n{\"error\":1}":                   `{"error":1}`,
		"data: a\n\n{\"error\":1}\n":                 `{"error":1}`,
		"data: a\n\n{\n \"error\": {\n }\n}\r\n\r\n": "{\n \"error\": {\n }\n}",
		"data: a\n\n[{\n},\n: c\n{}]\n\n: c\n\n":     "[{\n},\n{}]",
		"{}\n":                                       "{}",
		"{}\n\ndata: a\n\n":                          "", // an event follows
		"{}\n\n{}\n\n":                               "",
		"data: a\n\n{\n\n}":                          "", // a blank line ends the text
		"data: a\n\n{\"error\":":                     "",
		"data: a\n\n[DONE]\n":                        "",
		"data: a\n\n1\n":                             "",
		"data: a\n{}\n":                              "", // a field of an unfinished event
	} {
		for _, size := range []int{1, 3, whole()} {
			l := sse.NewLexer(0)
			lex(t, l, stream, func() int { return size })
			got, ok := l.Bare()
			assert.Equal(t, want != "", ok, "%q", stream)
			assert.Equal(t, want, string(got.Data), "%q", stream)
		}
	}
	l := sse.NewLexer(8)
	lex(t, l, "data: a\n\n[\"too long\"]\n", whole)
	_, ok := l.Bare()
	assert.False(t, ok)
}
