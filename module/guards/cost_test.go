package guards

import (
	"iter"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// hard are texts that were or may be expensive to search, of which each is repeated.
var hard = map[string]string{
	"words":                       "the quick brown fox jumps over the lazy dog and ",
	"addresses that go on":        "a.",
	"local parts":                 "a.a.a.a.a.a.a.a@",
	"hosts":                       "@a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a",
	"at signs":                    "@",
	"addresses":                   "a@b.cc ",
	"digits of cards":             "4111 ",
	"single digits":               "4 ",
	"digits in columns":           "4111\n",
	"digits without an end":       "4111111111111111",
	"cards":                       "4111.1111.1111.1111, ",
	"countries":                   "DE44 ",
	"countries without spaces":    "DE44GB82",
	"IBANs":                       "DE89370400440532013000 ",
	"prefixes of keys":            "sk- gho_ AKIA hf_ npm_ ",
	"keys that are too short":     "sk-aaaaaaaaaaaaaaaaaaa.",
	"keys that may end anywhere":  "sk-sk-sk-sk-sk-sk-sk-sk-.",
	"private keys":                "-----BEGIN AAAA ",
	"base64":                      "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODk",
	"characters of eighteen":      "\ufdfa",
	"some characters of eighteen": "abc \ufdfa",
	"full width":                  "４１１１ ",
	"superscripts":                "a²",
	"no width":                    "\u200b",
	"selectors of variants":       "4\ufe0f",
	"combining marks":             "\u0301",
	"letters with marks":          "e\u0301",
	"many marks":                  "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a",
	"Hangul":                      "\u1112\u1161\u11ab",
	"ideographs":                  "漢字",
	"rare ideographs":             "\U00020000",
	"tags":                        "\U000E0067",
	"Cyrillic":                    "привет ",
	"Arabic":                      "مرحبا ٤١١١ ",
	"flags":                       "\U0001F1E9\U0001F1EA",
	"mathematical digits":         "\U0001D7D8",
	"dashes":                      "4–1—",
	"broken characters":           "\xff\xe2\x80",
	"escapes":                     `\n4111`,
	"escapes in escapes":          `\\\\n4111`,
	"escapes of eighteen":         "abcdefghijklmnopqrstuvwxyz" + `\ufdfa`,
	"backslashes":                 `\`,
	"percent signs":               "%20%",
}

const hardSize = 8 << 20

// hardGuard has all built-in rules.
func hardGuard(t testing.TB) *Regex { return regexOf(t, "block card iban key\nmask email") }

// viewOf returns the view of a request with a text in parts of one group.
func viewOf(text string, parts int) *aigateway.GuardView {
	v := &aigateway.GuardView{Phase: aigateway.GuardRequest}
	for i := range parts {
		v.Texts = append(v.Texts, aigateway.GuardText{Text: text[len(text)*i/parts : len(text)*(i+1)/parts]})
	}
	return v
}

// TestWhatIsTooLargeIsNotPassedInSilence: the bound of a search is no way around it.
func TestWhatIsTooLargeIsNotPassedInSilence(t *testing.T) {
	const card = " 4111 1111 1111 1111"
	lines := "block card\nmask email\nmax_size 1kB"
	for name, texts := range map[string][]string{
		"a long text":                    {strings.Repeat("x", 1001)},
		"a long text with a card":        {strings.Repeat("x", 1001) + card},
		"many texts":                     slices.Repeat([]string{"x"}, 1001),
		"a form that is longer":          {strings.Repeat("\ufdfa", 25)},
		"a form that costs more":         {strings.Repeat("²", 120)},
		"a form that is shorter":         {strings.Repeat("\u200b4\ufe0f", 200)},
		"characters without a form":      {strings.Repeat("\u00ad\u0301", 200)},
		"many matches":                   {strings.Repeat("a@b.cc ", mostEdits+1)},
		"a long text before a short one": {strings.Repeat("x", 1001), card},
	} {
		t.Run(name, func(t *testing.T) {
			bound := lines
			if name == "many matches" {
				bound = "mask email"
			}
			assert.Equal(t, wordMaxSize, check(t, regexOf(t, bound), texts...).Block)
			passed := check(t, regexOf(t, bound+"\non_error pass"), texts...)
			assert.Empty(t, passed.Block)
			assert.True(t, passed.Unchecked)
			v := viewOf(texts[0], 1)
			if v.Phase = aigateway.GuardLog; len(texts) == 1 {
				_, err := regexOf(t, bound).Check(t.Context(), v)
				assert.ErrorIs(t, err, errSize, "a text that cannot be redacted is not logged")
			}
		})
	}
	verdict := check(t, regexOf(t, lines+"\non_error pass"), "a@b.cc"+card)
	assert.Equal(t, "card", verdict.Block)
	verdict = check(t, regexOf(t, lines+"\non_error pass"), "a@b.cc ", strings.Repeat("x", 1001))
	assert.Len(t, verdict.Edits, 1, "what was searched is masked")
	assert.Zero(t, check(t, regexOf(t, lines), strings.Repeat("x", 1000)))
}

// The middle of long texts is left out of the search for matches in several parts. A key in escapes passed: its ends
// in the texts were counted by the characters of the escapes.
func TestAMatchAcrossLongPartsIsFound(t *testing.T) {
	long := strings.Repeat("long text ", 2000)
	invisible := strings.Repeat("\u200b", 20_000)
	for name, texts := range map[string][]string{
		"between two":            {long + "4111 1111", " 1111 1111 " + long},
		"over three":             {long + "4111 ", "1111 1111", " 1111 " + long},
		"over empty ones":        {long + "4111 1111 ", "", "", "1111 1111 " + long},
		"behind the invisible":   {long + "4111 1111 " + invisible, invisible + "1111 1111 " + long},
		"in wide digits":         {long + "４１１１ １１１１ ", "１１１１ １１１１ " + long},
		"digit by digit":         append([]string{long}, append(strings.Split("4111111111111111 ", ""), long)...),
		"an address":             {long + "jane.doe", "@", "example.com " + long},
		"a key":                  {long + "sk-aaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaa " + long},
		"a key in escapes":       {long + `\u0073\u006b-` + strings.Repeat(`\u0061`, 120), strings.Repeat(`\u0061`, 120) + " " + long},
		"a key in two layers":    {long + `\\u0073\\u006b-` + strings.Repeat(`\\u0061`, 120), strings.Repeat(`\\u0061`, 120) + " " + long},
		"a composed character":   {long + "cafe", "\u0301 x" + long},
		"a pattern without ends": {"BEGIN " + long, "middle", long + " END"},
	} {
		g := regexOf(t, "pattern far (?s)BEGIN.*END\npattern cafe café\nblock card email key cafe far")
		assert.NotEmpty(t, check(t, g, texts...).Block, name)
		masked := regexOf(t, "pattern cafe café\nmask card email key cafe")
		if name != "a pattern without ends" {
			assert.GreaterOrEqual(t, len(check(t, masked, texts...).Edits), 2, name)
		}
	}
}

// Only single spaces and hyphens divided a number: a card with its groups on lines of their own, or
// with dots between them, passed.
func TestSeparatorsWithinNumbers(t *testing.T) {
	g := regexOf(t, "block card iban")
	for _, gap := range []string{" ", "-", "\n", "\r\n", "\t", "  ", ".", "/", "_", " - ", "\u00a0", "\u2009", "\u2028", "–", " \u200b ", ".\u00ad"} {
		for _, groups := range []string{"4111 1111 1111 1111", "3782 822463 10005", "3056 930902 5904", "5555 5555 5555 4444", "6304 0000 0000 0000", "4222 222 222 222"} {
			text := "pay\n" + strings.ReplaceAll(groups, " ", gap) + ", today"
			assert.Equal(t, "card", check(t, g, text).Block, "%q", text)
		}
		for _, groups := range []string{"DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "AT61 1904 3002 3457 3201"} {
			text := "to " + strings.ReplaceAll(groups, " ", gap) + " please"
			assert.Equal(t, "iban", check(t, g, text).Block, "%q", text)
		}
	}
	assert.Equal(t, "card", check(t, g, "on 12.05.2024 4111.1111.1111.1111 exp 12/27").Block)
	assert.Equal(t, "card", check(t, g, "4111\n1111\n1111\n1111\n123").Block, "with its check code on the next line")
	for name, text := range map[string]string{
		"a column":         "4111\n1111\n1111\n1111\n1111\n1111\n1111\n1111\n1111",
		"a table":          "4111\t1111\n1111\t1111",
		"small numbers":    "41.11.11.11.11.11.11.11",
		"other separators": "4111, 1111, 1111, 1111",
		"a wide gap":       "4111    1111    1111    1111",
		"dates":            "2024/05/06 2024/05/07 4111/11/11",
	} {
		assert.Empty(t, check(t, g, text).Block, name)
	}
}

// A request of 8 MB against the built-in rules took 12 seconds of a core, or 2.4 GB, depending on its
// characters. The memory of a search is bounded, whatever the text; its time is what the benchmark
// below shows.
func TestTheMemoryOfASearchIsBounded(t *testing.T) {
	g := hardGuard(t)
	_ = classes()
	for name, unit := range hard {
		text := strings.Repeat(unit, hardSize/4/len(unit))
		for parts, most := range map[int]int{1: 64 << 20, 1000: 96 << 20} {
			v := viewOf(text, parts)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := g.Check(t.Context(), v)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(most), "%s in %d parts", name, parts)
		}
	}
}

func processorTime() int64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r.Utime.Nano() + r.Stime.Nano()
}

func BenchmarkHardTexts(b *testing.B) {
	g := hardGuard(b)
	for name, unit := range hard {
		text := strings.Repeat(unit, hardSize/len(unit))
		for _, parts := range []struct {
			name string
			n    int
		}{{"whole", 1}, {"parts", 1000}} {
			v := viewOf(text, parts.n)
			b.Run(name+"/"+parts.name, func(b *testing.B) {
				b.ReportAllocs()
				begin := processorTime()
				for b.Loop() {
					_, _ = g.Check(b.Context(), v)
				}
				b.ReportMetric(float64(processorTime()-begin)/1e6/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// The built-in rules for addresses and keys were patterns. They find the same as those.
func TestShapesFindWhatTheirPatternsFind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		pattern string
		find    func(string) iter.Seq[span]
		pieces  []string
	}{
		{`\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,24}\b`, emails,
			[]string{"a", "Z9", "_", ".", "%+", "-", "@", "@b", ".co", ".c", "c.museum1", " ", "é", "\n", strings.Repeat("a", 60), strings.Repeat("b.", 90), strings.Repeat("c", 24)}},
		{`(?:\b|_)(?:sk-[A-Za-z0-9_-]{20,250}|AKIA[0-9A-Z]{16}|gh[opsur]_[A-Za-z0-9]{36,250}|github_pat_[A-Za-z0-9_]{22,240}|glpat-[A-Za-z0-9_-]{20,240}|xox[abeoprs]-[A-Za-z0-9-]{10,240}|AIza[0-9A-Za-z_-]{35}|hf_[A-Za-z]{30,240}|npm_[A-Za-z0-9]{36})\b`, keys,
			[]string{"sk-", "AKIA", "gho_", "ghx_", "github_pat_", "glpat-", "xoxb-", "AIza", "hf_", "npm_", "a", "Z", "0", "-", "_", " ", ".", "é", "aaaaaaaaaaaaaaaa", "0000000000", strings.Repeat("A", 16), strings.Repeat("a", 36), strings.Repeat("b", 120)}},
		{`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----`, keys, []string{"-----BEGIN ", "RSA ", "PRIVATE KEY-----", "PRIVATE ", "-----", "\n", strings.Repeat("A", 20)}},
	} {
		pattern := regexp.MustCompile(test.pattern)
		for range 5_000 {
			var text strings.Builder
			for range 1 + random.IntN(12) {
				text.WriteString(test.pieces[random.IntN(len(test.pieces))])
			}
			want := slices.Collect(all(pattern)(text.String()))
			for i := range want {
				if text.String()[want[i].start] == '_' && strings.HasPrefix(test.pattern, `(?:\b|_)`) {
					want[i].start++ // RE2 cannot look back
				}
			}
			require.Equal(t, want, slices.Collect(test.find(text.String())), "%q", text.String())
		}
	}
}
