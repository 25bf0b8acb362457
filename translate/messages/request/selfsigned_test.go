package request_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// selfSigned is a thinking block that this gateway signed; foreign, one that looks
// like it but is signed by someone else.
var (
	selfSigned = fmt.Sprintf(`{"type":"thinking","thinking":"why?","signature":"%s"}`, seal.AppendSelfSigned(nil, []byte("why?")))
	foreign    = `{"type":"thinking","thinking":"why?","signature":"gwts1:AAAAAAAAAAAAAAAAAAAAAA"}`
	text       = `{"type":"text","text":"a"}`
)

// sealedItem is thinking whose signature closes reasoning of another format.
const sealedItem = `{"type":"thinking","thinking":"","signature":"gwrs1:AAAAAAAAAAAAAAAAAAAAAAAA.rs_1..gAAAAABo"}`

// cut is the body without the self-signed spans.
func cut(t *testing.T, body string) string {
	t.Helper()
	view, fault := request.Inspect([]byte(body), translate.Generate)
	require.Nil(t, fault)
	return string(translatetest.Without([]byte(body), view.SelfSigned))
}

func TestSelfSignatureIsPrefixAndDigest(t *testing.T) {
	assert.Equal(t, "gwts1:", string(seal.AppendSelfSigned(nil, nil)[:6]))
	assert.Equal(t, "gwts1:47DEQpj8HBSa-_TImW-5JA", string(seal.AppendSelfSigned(nil, nil)))
	assert.Len(t, seal.AppendSelfSigned(nil, []byte("why?")), 28)
}

func TestSelfSignedBlocksAreCutWithOneComma(t *testing.T) {
	tests := []struct{ name, blocks, want string }{
		{"first of two", selfSigned + "," + text, text},
		{"last of two", text + "," + selfSigned, text},
		{"in the middle", text + "," + selfSigned + "," + text, text + "," + text},
		{"two in front", selfSigned + "," + selfSigned + "," + text, text},
		{"two behind", text + "," + selfSigned + "," + selfSigned, text},
		{"both ends", selfSigned + "," + text + "," + selfSigned, text},
		{"with white space", " " + selfSigned + " , " + text + " ", " " + text + " "},
		{"with white space behind", text + "\n, " + selfSigned + "\n", text + "\n"},
		{"R013 a seal of another format", text + "," + sealedItem, text},
		{"none", text + "," + foreign, text + "," + foreign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := turn(`{"role":"user","content":"q"},{"role":"assistant","content":[` + tt.blocks + `]}`)
			want := turn(`{"role":"user","content":"q"},{"role":"assistant","content":[` + tt.want + `]}`)
			assert.Equal(t, want, cut(t, body))
		})
	}
}

func TestMessageOfNothingButSelfSignedThinkingGoesWhole(t *testing.T) {
	question := `{"role":"user","content":"q"}`
	gone := `{"role":"assistant","content":[` + selfSigned + `,` + selfSigned + `]}`
	assert.Equal(t, turn(question), cut(t, turn(question+","+gone)))
	assert.Equal(t, turn(question), cut(t, turn(gone+" , "+question)))
	assert.Equal(t, turn(question+","+question), cut(t, turn(question+","+gone+","+gone+","+question)))
	assert.Equal(t, turn(``), cut(t, turn(gone)))
	assert.Equal(t, turn(`{"role":"assistant","content":[]}`), cut(t, turn(`{"role":"assistant","content":[]}`)))
}

// TestEveryChoiceOfSelfSignedBlocksLeavesTheOthers cuts all combinations of self-signed
// and other blocks in three messages.
func TestEveryChoiceOfSelfSignedBlocksLeavesTheOthers(t *testing.T) {
	const messagesCount, blocksCount = 3, 3
	for choice := range 1 << (messagesCount * blocksCount) {
		var turns, want []string
		for m := range messagesCount {
			var blocks, left []string
			for b := range blocksCount {
				kept := fmt.Sprintf(`{"type":"text","text":"%d.%d"}`, m, b)
				if choice>>(m*blocksCount+b)&1 == 1 {
					blocks = append(blocks, selfSigned)
					continue
				}
				blocks, left = append(blocks, kept), append(left, kept)
			}
			turns = append(turns, `{"role":"assistant","content":[`+strings.Join(blocks, ",")+`]}`)
			if len(left) > 0 {
				want = append(want, `{"role":"assistant","content":[`+strings.Join(left, ",")+`]}`)
			}
		}
		require.Equal(t, turn(strings.Join(want, ",")), cut(t, turn(strings.Join(turns, ","))), "choice %b", choice)
	}
}

func TestOnlyBlocksOfThisGatewayAreCut(t *testing.T) {
	signature := string(seal.AppendSelfSigned(nil, []byte("why?")))
	quoted, err := json.Marshal(signature)
	require.NoError(t, err)
	tests := []struct {
		name, block string
		selfSigned  bool
	}{
		{"as it was sent", selfSigned, true},
		{"members in another order", `{"signature":` + string(quoted) + `,"thinking":"why?","type":"thinking"}`, true},
		{"escapes in the thinking", `{"type":"thinking","thinking":"\u0077hy?","signature":` + string(quoted) + `}`, true},
		{"escapes in the signature", `{"type":"thinking","thinking":"why?","signature":"` + strings.Replace(signature, ":", `\u003a`, 1) + `"}`, true},
		{"with more members", `{"type":"thinking","thinking":"why?","signature":` + string(quoted) + `,"x":[1]}`, true},
		{"another digest", foreign, false},
		{"other thinking", strings.Replace(selfSigned, "why?", "why!", 1), false},
		{"no thinking", strings.Replace(selfSigned, "why?", "", 1), false},
		{"only the prefix", `{"type":"thinking","thinking":"why?","signature":"gwts1:"}`, false},
		{"a longer signature", strings.Replace(selfSigned, signature, signature+"A", 1), false},
		{"a signature of a provider", `{"type":"thinking","thinking":"","signature":"EqQBCgIYAhIMabcdefghijklmnop"}`, false},
		{"an empty signature", `{"type":"thinking","thinking":"why?","signature":""}`, false},
		{"another type", strings.Replace(selfSigned, `"thinking"`, `"thinking2"`, 1), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := turn(`{"role":"assistant","content":[` + text + `,` + tt.block + `]}`)
			want := body
			if tt.selfSigned {
				want = turn(`{"role":"assistant","content":[` + text + `]}`)
			}
			assert.Equal(t, want, cut(t, body))
		})
	}
}

func TestSelfSignedBlocksInsideToolResultsAreLeftAlone(t *testing.T) {
	body := block(`{"type":"tool_result","tool_use_id":"t","content":[` + selfSigned + `]}`)
	assert.Equal(t, body, cut(t, body))
}
