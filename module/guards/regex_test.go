package guards

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// regexOf returns a guard with these lines of a Caddyfile.
func regexOf(t testing.TB, lines string) *Regex {
	t.Helper()
	g := new(Regex)
	require.NoError(t, g.UnmarshalCaddyfile(caddyfile.NewTestDispenser(lines)))
	require.NoError(t, g.Provision(caddy.Context{}))
	return g
}

// check returns the verdict on texts of one group.
func check(t testing.TB, g aigateway.Guard, texts ...string) aigateway.GuardVerdict {
	t.Helper()
	v := &aigateway.GuardView{Phase: aigateway.GuardRequest}
	for _, text := range texts {
		v.Texts = append(v.Texts, aigateway.GuardText{Kind: aigateway.GuardUser, Text: text})
	}
	verdict, err := g.Check(t.Context(), v)
	require.NoError(t, err)
	return verdict
}

// masked returns a text with the edits of a verdict on it.
func masked(text string, verdict aigateway.GuardVerdict) string {
	for i := len(verdict.Edits) - 1; i >= 0; i-- {
		e := verdict.Edits[i]
		text = text[:e.Start] + e.With + text[e.End:]
	}
	return text
}

func TestBuiltInRulesFindWhatTheyCheck(t *testing.T) {
	g := regexOf(t, "mask card iban key email")
	for text, want := range map[string]string{
		"4111111111111111": "[card]",
		"pay 4111-1111-1111-1111, or 378282246310005.":                     "pay [card], or [card].",
		"2024 4111 1111 1111 1111 12":                                      "2024 [card] 12",
		"5555 5555 5555 4444 and 6011000990139424":                         "[card] and [card]",
		"4111111111111112":                                                 "4111111111111112", // the check digit is wrong
		"1234567812345670":                                                 "1234567812345670", // no issuer
		"x4111111111111111":                                                "x4111111111111111",
		"41111111111111111111":                                             "41111111111111111111",
		"0.4111111111111111 and -12.4111111111111111":                      "0.4111111111111111 and -12.4111111111111111", // fractions
		"1.4111 1111 1111 1111":                                            "1.[card]",
		"no.4111111111111111, or .4111111111111111":                        "no.[card], or .[card]",
		"41111111-1111-1111-8111-abcdefabcdef":                             "41111111-1111-1111-8111-abcdefabcdef", // a UUID
		"id=47223179-9330-4259-b66c-0123456789ab;":                         "id=47223179-9330-4259-b66c-0123456789ab;",
		"41111111-1111-1111-8111-abcdefabcdeg":                             "[card]-8111-abcdefabcdeg",
		"DE89 3704 0044 0532 0130 00 BITTE":                                "[iban] BITTE",
		"gb29nwbk60161331926819":                                           "[iban]",
		"DE88 3704 0044 0532 0130 00":                                      "DE88 3704 0044 0532 0130 00",
		"write to jane.doe+x@mail.example.com.":                            "write to [email].",
		"a@b":                                                              "a@b",
		"sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA":                            "[key]",
		"AKIAIOSFODNN7EXAMPLE ghp_" + strings.Repeat("a", 36):              "[key] [key]",
		"-----BEGIN RSA PRIVATE KEY-----":                                  "[key]",
		"4111\u200b1111\u00ad1111\u20601111 é":                             "[card] é",
		"4\ufe0f\u20e31\ufe0f\u20e31\ufe0f\u20e31\ufe0f\u20e3111111111111": "[card]", // in the frames of keys
		"é ４１１１ １１１１ １１１１ １１１１ é":                                          "é [card] é",
		"risk-averse tasks, sk-short, disk-drive-of-the-network":           "risk-averse tasks, sk-short, disk-drive-of-the-network",
	} {
		assert.Equal(t, want, masked(text, check(t, g, text)), text)
	}
}

func TestAGeneratedKeyOfTheGatewayIsAKey(t *testing.T) {
	assert.Equal(t, "key", check(t, regexOf(t, "block key"), "use "+string(aigateway.NewAPIKey())).Block)
}

func TestPatternsAreRules(t *testing.T) {
	g := regexOf(t, "pattern codename \"(?i)project[ -]?x\"\npattern ticket TICKET-\\d{1,8}\nblock codename\nmask ticket")
	assert.Equal(t, "codename", check(t, g, "about PROJECT-X").Block)
	assert.Equal(t, "see [ticket]", masked("see TICKET-17", check(t, g, "see TICKET-17")))
}

func TestAMatchInSeveralPartsIsMaskedInEach(t *testing.T) {
	verdict := check(t, regexOf(t, "mask card"), "4111 1111", " 1111 1111 and more")
	assert.Equal(t, []aigateway.GuardEdit{
		{Text: 0, Start: 0, End: 9, With: "[card]", Rule: "card"},
		{Text: 1, Start: 0, End: 10, With: "[card]", Rule: "card"},
	}, verdict.Edits)
	verdict = check(t, regexOf(t, "mask card"), "pay ", "", "4111", "", " 1111 1111", " 1111", " and more")
	var masked []int
	for _, e := range verdict.Edits {
		masked = append(masked, e.Text)
	}
	assert.Equal(t, []int{2, 4, 5}, masked)
}

// An address of full-width letters was once too long for the window of a stream, so that its
// beginning was masked before its end came.
func TestWideLettersAtTheEndOfAPartWaitForMore(t *testing.T) {
	address := strings.Repeat("ａ", 60) + "@" + strings.Repeat("ｂ", 60) + ".com"
	check := func(more bool) []aigateway.GuardEdit {
		verdict, err := regexOf(t, "mask email").Check(t.Context(), &aigateway.GuardView{
			Phase: aigateway.GuardStream, Texts: []aigateway.GuardText{{Text: address, More: more}},
		})
		require.NoError(t, err)
		return verdict.Edits
	}
	assert.Empty(t, check(true))
	assert.Len(t, check(false), 1)
}

func TestALogMasksWhatIsBlocked(t *testing.T) {
	verdict, err := regexOf(t, "block card").Check(t.Context(), &aigateway.GuardView{Phase: aigateway.GuardLog, Texts: []aigateway.GuardText{{Text: "4111111111111111"}}})
	require.NoError(t, err)
	assert.Empty(t, verdict.Block)
	assert.Equal(t, "[card]", masked("4111111111111111", verdict))
}

func TestX115AnUnboundedMaskIsRefusedInStreams(t *testing.T) {
	for pattern, problem := range map[string]string{
		`secret.*`: "has no longest match", `(a{2,}|b)`: "has no longest match", `x+`: "has no longest match", `[a-z]{0,1000}[a-z]{0,1000}`: "more than 4096 bytes",
		`secret.{0,80}`: "", `(?i)ab?|c`: "",
	} {
		_, err := regexOf(t, "pattern p "+pattern+"\nmask p").Window()
		if problem == "" {
			assert.NoError(t, err, pattern)
			continue
		}
		assert.ErrorContains(t, err, problem, pattern)
		_, err = regexOf(t, "pattern p "+pattern+"\nblock p").Window()
		assert.NoError(t, err, "what is found blocks, however long it is")
	}
}

func TestConfigurationsOfRegexThatAreRefused(t *testing.T) {
	for lines, problem := range map[string]string{
		"":                              "needs a rule",
		"block phone":                   "there is no rule 'phone'",
		"pattern card x\nblock card":    "pattern 'card'",
		"pattern p (\nblock p":          "missing closing",
		"pattern p (?=x)\nblock p":      "invalid or unsupported",
		"pattern \"a b\" x\nblock card": "1 to 64 letters",
		"pattern p \"a–b\"\nblock p":    `never matches: write "a-b"`,
		"pattern p ٣\nblock p":          `never matches: write "3"`,
	} {
		g := new(Regex)
		require.NoError(t, g.UnmarshalCaddyfile(caddyfile.NewTestDispenser(lines)))
		assert.ErrorContains(t, g.Provision(caddy.Context{}), problem, lines)
	}
	for _, lines := range []string{"block", "pattern p", "allow card"} {
		assert.Error(t, new(Regex).UnmarshalCaddyfile(caddyfile.NewTestDispenser(lines)), lines)
	}
}

// Numbers passed in the digits of another script, or with dashes in place of hyphens.
func TestDigitsOfAllScriptsAreDigits(t *testing.T) {
	for text, want := range map[string]string{"٠١٢٣٤٥٦٧٨٩ ९–८—७−६ x": "0123456789 9-8-7-6 x", "𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡": "0123456789"} {
		left := defaultMaxSize
		form, whole := new(walker).normalize(text, &left)
		assert.Equal(t, want, form)
		assert.True(t, whole)
	}
}

// The characters that need no look at their neighbours take a way of their own.
func TestTheFormOfATextIsNFKC(t *testing.T) {
	random, pieces := rand.New(rand.NewPCG(1, 2)), slices.DeleteFunc(slices.Sorted(maps.Values(hard)), func(s string) bool { return !utf8.ValidString(s) })
	pieces = append(pieces, "ｶ\uff9e", "a", "\u1161", "\U000105C2", "\U0001D165", "\U0001E947", "\u0f71\u0f80", "\u09c7\u09be", "\u2126", "\u0344")
	for range 5_000 {
		var text, want strings.Builder
		for range 1 + random.IntN(8) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		for _, r := range norm.NFKC.String(text.String()) {
			switch c := classOf(r); {
			case r < utf8.RuneSelf, c == ordinary:
				want.WriteRune(r)
			case c >= zero:
				want.WriteRune('0' + rune(c-zero))
			case c != invisible:
				want.WriteRune(map[class]rune{dash: '-', space: ' '}[c])
			}
		}
		left := defaultMaxSize
		form, _ := new(walker).normalize(text.String(), &left)
		require.Equal(t, want.String(), form, "%+q", text.String())
	}
}

// A mask never leaves a part of a match, and its edits are within the text.
func FuzzRegex(f *testing.F) {
	g := regexOf(f, "mask card iban key email")
	for _, text := range []string{"4111 1111 1111 1111", "é４１１１１１１１１１１１１１１１", "DE89370400440532013000", "a\u200bb@c.de", "\xff4111111111111111", "٤١١١–١١١١–١١١١–١١١١", "ﬁ@x.de"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		verdict := check(t, g, text)
		last := 0
		for _, e := range verdict.Edits {
			require.True(t, last <= e.Start && e.Start < e.End && e.End <= len(text), "%d %d of %d", e.Start, e.End, len(text))
			last = e.End
		}
	})
}
