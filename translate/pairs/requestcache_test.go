package pairs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Bedrock and Vertex refuse the breakpoint of a whole request. It was left out there, so that clients which
// ask for a cache in this way paid for the whole conversation with each turn.
func TestTheBreakpointOfARequestMovesToItsLastPart(t *testing.T) {
	const (
		hour = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
		own  = `"cache_control":{"type":"ephemeral"}`
	)
	for name, c := range map[string]struct {
		messages, want string // the last message without and with the breakpoint; "" for a loss
	}{
		"a text":                    {`{"role":"user","content":"a\"b"}`, `{"role":"user","content":[{"type":"text","text":"a\"b",` + hour + `}]}`},
		"parts":                     {`{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}`, `{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text",` + hour + `}]}`},
		"a result":                  {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}`, `{"role":"user","content":[{"type":"tool_result",` + hour + `,"tool_use_id":"t","content":"r"}]}`},
		"the part has its own":      {`{"role":"user","content":[{"type":"text","text":"a",` + own + `}]}`, `{"role":"user","content":[{"type":"text","text":"a",` + own + `}]}`},
		"the part has null":         {`{"role":"user","content":[{"type":"text","text":"a","cache_control":null}]}`, `{"role":"user","content":[{"type":"text","text":"a",` + hour + `}]}`},
		"an empty text":             {`{"role":"user","content":[{"type":"image","source":{}},{"type":"text","text":""}]}`, `{"role":"user","content":[{"type":"image",` + hour + `,"source":{}},{"type":"text","text":""}]}`},
		"thinking":                  {`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}]}`, `{"role":"assistant","content":[{"type":"text","text":"a",XX},{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}]}`},
		"the turn before":           {`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}`, `{"role":"user","content":[{"type":"text","text":"a",` + hour + `}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}`},
		"nothing that can have one": {`{"role":"user","content":""},{"role":"assistant","content":[]}`, ""},
		"three others":              {`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a",`+own+`},`, 3) + `{"type":"text","text":"b"}]}`, `{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a",`+own+`},`, 3) + `{"type":"text",` + hour + `,"text":"b"}]}`},
		"four others":               {`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a",`+own+`},`, 4) + `{"type":"text","text":"b"}]}`, ""},
	} {
		for _, order := range []string{hour + `,"messages":[` + c.messages + `]`, `"messages":[` + c.messages + `],` + hour} {
			body := []byte(`{"model":"m","max_tokens":9,` + order + `}`)
			traits := new(trait.Traits)
			assert.True(t, unaccepted(body, traits).Empty(), "%s: other services take it", name)
			require.NoError(t, traits.Set("request_cache", "false"))
			refused := unaccepted(body, traits)
			assert.False(t, refused.Empty(), name)
			paths := refused.Moved
			for _, loss := range refused.Members {
				paths = append(paths, loss.Path)
			}
			cuts, _ := edit.CutMembers(body, paths)
			edits := append(cuts, refused.Edits...)
			slices.SortFunc(edits, func(a, b edit.Edit) int { return a.Start - b.Start })
			want := strings.ReplaceAll(c.want, "XX", hour)
			if c.want == "" {
				want = c.messages
				assert.Equal(t, translate.Losses{{Path: "cache_control", Class: translate.Hint}}, refused.Members, name)
			} else {
				assert.Empty(t, refused.Members, name)
			}
			assert.JSONEq(t, `{"model":"m","max_tokens":9,"messages":[`+want+`]}`, string(edit.Apply(nil, body, edits)), name)
		}
	}
	for _, none := range []string{"", `,"cache_control":null`} {
		traits := &trait.Traits{NoRequestCache: true}
		assert.True(t, unaccepted([]byte(`{"model":"m","messages":[]`+none+`}`), traits).Empty(), none)
	}
}

func unaccepted(body []byte, traits *trait.Traits) *core.Unaccepted {
	refused := request.Source.Unaccepted(body, new(translate.View), traits)
	return &refused
}
