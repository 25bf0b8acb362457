package guards

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The arguments of a call, and JSON in another text, have a line break as a backslash and the letter n. So
// a key behind one had no beginning of a word, and a card in lines was none: they passed, and stayed in
// logs that mask them. An address behind one was masked with the n, which made the JSON invalid.
func TestNoEscapeHidesAMatch(t *testing.T) {
	const (
		key  = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
		iban = "DE89370400440532013000"
	)
	g := regexOf(t, "pattern code \\bACME-\\d{4}\\b\npattern user CORP\\\\[a-z]{1,9}\nmask card iban key email code user")
	for text, want := range map[string]string{
		`{"content":"first\n` + key + `"}`:               `{"content":"first\n[key]"}`,
		`{"content":"first\t` + key + `\tnext"}`:         `{"content":"first\t[key]\tnext"}`,
		`{"content":"a\r\n4111 1111 1111 1111\r\nb"}`:    `{"content":"a\r\n[card]\r\nb"}`,
		`{"content":"4111\n1111\n1111\n1111"}`:           `{"content":"[card]"}`,
		`{"content":"a\f` + iban + `\u0000"}`:            `{"content":"a\f[iban]\u0000"}`,
		`{"content":"DE89\t3704\t0044\t0532\t0130\t00"}`: `{"content":"[iban]"}`,
		`{"content":"x\nbob@example.com"}`:               `{"content":"x\n[email]"}`,
		`{"content":"x\u001bbob@example.com"}`:           `{"content":"x\u001b[email]"}`,
		`{"content":"x\nACME-1234\n"}`:                   `{"content":"x\n[code]\n"}`,
		`{"content":"CORP\\nick"}`:                       `{"content":"[user]"}`,
		`CORP\nick and CORP\alice`:                       `[user] and [user]`,
		`{"a":"{\"b\":\"x\\n` + key + `\"}"}`:            `{"a":"{\"b\":\"x\\n[key]\"}"}`,
		`{"a":"{\"b\":\"x\\nbob@example.com\"}"}`:        `{"a":"{\"b\":\"x\\n[email]\"}"}`,
		`{"a":"x\\\\\\\n` + key + `"}`:                   `{"a":"x\\\\\\\n[key]"}`,
		`say {"b":"é\n` + key + `"} é`:                   `say {"b":"é\n[key]"} é`,
		`4\u00311\uFF11 1111\u30001111 1111 é`:           `[card] é`,
		`\ud83d\ude00` + key + ` \ud83d ` + key:          `\ud83d\ude00[key] \ud83d [key]`,
		"x%20" + key + "&y=%E2%80%8B":                    "x%20[key]&y=%E2%80%8B",
		"q=4111%201111%201111%201111%2C":                 "q=[card]%2C",
		"my_" + key:                                      "my_[key]",
		`C:\temp\new, 50% of \u12, \`:                    `C:\temp\new, 50% of \u12, \`,
		`4111\\n`:                                        `4111\\n`,
	} {
		assert.Equal(t, want, masked(text, check(t, g, text)), text)
		if strings.HasPrefix(text, "{") {
			assert.True(t, json.Valid([]byte(masked(text, check(t, g, text)))), text)
		}
	}
	assert.Equal(t, "key", check(t, regexOf(t, "block key"), `{"content":"first\n`+key+`"}`).Block)
	verdict := check(t, regexOf(t, "mask key"), `{"content":"first\nsk-ant-`, `api03-AAAAAAAAAAAAAAAAAAAAAAAA\n"}`)
	assert.Len(t, verdict.Edits, 2, "a key in two parts of a text")
	for phase, want := range map[aigateway.GuardPhase]int{aigateway.GuardStream: 1, aigateway.GuardAnswer: 1, aigateway.GuardLog: 1} {
		v := viewOf(`x\nbob@example.com `, 1)
		v.Phase = phase
		verdict, err := regexOf(t, "mask email").Check(t.Context(), v)
		assert.NoError(t, err)
		assert.Len(t, verdict.Edits, want, phase)
	}
}

// What is found with and without escapes is one match: the bound of matches counts it once.
func TestAMatchInSeveralLayersCountsOnce(t *testing.T) {
	verdict := check(t, regexOf(t, "mask email"), strings.Repeat(`a@b.cc\n`, mostEdits*2/3))
	assert.Empty(t, verdict.Block)
	assert.Len(t, verdict.Edits, mostEdits*2/3)
}

// A key in escapes that is not at its end was longer than the window by the number of its characters, so that its
// first part was masked alone, and the rest was sent.
func TestAKeyInEscapesIsOpenUntilItsEnd(t *testing.T) {
	for _, letter := range []string{`\u0041`, `\\u0041`} {
		for more, want := range map[bool]int{true: 0, false: 1} {
			verdict, err := regexOf(t, "mask key").Check(t.Context(), &aigateway.GuardView{
				Phase: aigateway.GuardStream, Texts: []aigateway.GuardText{{Text: "sk-" + strings.Repeat(letter, 60), More: more}},
			})
			assert.NoError(t, err)
			assert.Len(t, verdict.Edits, want, letter)
		}
	}
}
