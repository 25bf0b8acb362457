package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// An agent stored the turn of a model that had answered "\n" before its call, and Claude refused
// every later request of the conversation: "text content blocks must contain non-whitespace
// text". Texts of every kind of white space are left out and reported, wherever they are, for the
// services that refuse them.
func TestBlankTextsAreLeftOutWhereTheyAreRefused(t *testing.T) {
	call := madeCall{"c1", "f", "{}"}
	for place, turns := range map[string]func(blank string) []spokenTurn{
		"the system":                func(b string) []spokenTurn { return []spokenTurn{system(b), asks("a")} },
		"the system, beside a text": func(b string) []spokenTurn { return []spokenTurn{system("s", b), asks("a")} },
		"a turn of the user":        func(b string) []spokenTurn { return []spokenTurn{asks("a"), answers("b"), asks(b), asks("c")} },
		"the first turn":            func(b string) []spokenTurn { return []spokenTurn{asks(b), asks("c")} },
		"a turn of the assistant":   func(b string) []spokenTurn { return []spokenTurn{asks("a"), answers(b), asks("c")} },
		"the last turn":             func(b string) []spokenTurn { return []spokenTurn{asks("a"), answers(b)} },
		"beside texts of the user":  func(b string) []spokenTurn { return []spokenTurn{asks("a", b), answers("b"), asks(b, "c")} },
		"beside the assistant's":    func(b string) []spokenTurn { return []spokenTurn{asks("a"), answers("b", b), asks("c")} },
		"in front of a call": func(b string) []spokenTurn {
			return []spokenTurn{asks("a"), {role: "assistant", texts: []string{b}, calls: []madeCall{call}}, returns(call)}
		},
		"the result of a call": func(b string) []spokenTurn {
			return []spokenTurn{asks("a"), calls(call), returns(madeCall{"c1", "f", b}), asks("c")}
		},
		"behind a result": func(b string) []spokenTurn {
			return []spokenTurn{asks("a"), calls(call), {role: "user", results: []madeCall{{"c1", "f", "r"}}, texts: []string{b}}}
		},
	} {
		for _, blank := range []string{" ", "\n", "  \n", "\t\r\n", "\f\v", "\u00a0", "\u3000\u2003", "\u2028\u0085", "\x1c\x1f"} {
			for from := range histories {
				for _, to := range []translate.Format{translate.Messages, translate.Converse} {
					if from == to {
						continue
					}
					t.Run(place+" "+quoted(blank)+" "+string(from)+" to "+string(to), func(t *testing.T) {
						out, r, fault := renderHistory(t, way{from, to}, "", "", []string{"f"}, turns(blank)...)
						require.Nil(t, fault)
						assert.NotContains(t, out, strings.Trim(quoted(blank), `"`)+`"`)
						assert.NotEmpty(t, r.Losses)
						for _, loss := range r.Losses {
							assert.NotRegexp(t, `\d`, loss.Path, "the index of a loss is general")
						}
					})
				}
			}
		}
	}
}

// What a model sees of a text is no white space.
func TestOtherTextsThatShowNothingAreKept(t *testing.T) {
	for _, text := range []string{"\u200b", "\ufeff", "\u2060", ".", "\\n", "\u00a0x"} {
		for from := range histories {
			for _, to := range spoken {
				if from != to {
					out, r, fault := renderHistory(t, way{from, to}, "", "", nil, asks(text))
					require.Nil(t, fault)
					assert.Contains(t, out, text[len(text)-1:])
					assert.NotContains(t, r.Losses.String(), "content")
				}
			}
		}
	}
}

// The place of a breakpoint of the cache may be a text that is left out. The mark was once put
// on the bytes in front of it, twice, or on nothing.
func TestABreakpointOfABlankTextIsLost(t *testing.T) {
	mark := `"cache_control":{"type":"ephemeral"}`
	blank := `{"type":"text","text":" ",` + mark + `}`
	for name, messages := range map[string]string{
		"alone":                 hi + `,{"role":"assistant","content":[` + blank + `]},` + bye,
		"first":                 `{"role":"user","content":[` + blank + `,{"type":"text","text":"a"}]}`,
		"behind a marked text":  `{"role":"user","content":[{"type":"text","text":"a",` + mark + `},` + blank + `]}`,
		"of the system":         `{"role":"system","content":[` + blank + `]},` + hi,
		"in a result of a tool": hi + `,` + asksCall + `,{"role":"tool","tool_call_id":"c1","content":[` + blank + `]}`,
	} {
		w := way{translate.Chat, translate.Messages}
		body, r := renderCaseOf(t, w.source, w.target, renderCase{name: name, body: talk(messages)})
		requireRight(t, w.target, body)
		out := string(body)
		assert.LessOrEqual(t, strings.Count(out, "cache_control"), 1, name)
		assert.NotContains(t, out, `" "`, name)
		assert.NotEmpty(t, r.Losses, name)
	}
}
