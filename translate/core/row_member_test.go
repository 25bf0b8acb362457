package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// described are the rows of a format that has all kinds of descriptions.
var described = core.NewRows(strict.Brackets, append(append([]core.Row{
	core.Structural("model", core.Model).Is(strict.Model).Required(),
	core.Structural("turns", core.Content).Is(strict.Objects).Required(),
	core.Member("turns[*].role").Is(strict.OneOf("user", "tool", "model")).Must(jsonscan.Invalid),
	core.Structural("turns[*].role=user", core.Content),
	core.Structural("turns[*].role=tool", core.ToolResult),
	core.Structural("turns[*].parts", core.Content).Is(strict.Elements).Must(jsonscan.Array),
	core.Member("turns[*].parts[*].type"),
	core.Structural("turns[*].parts[*].type=text", core.Content).Untyped(),
	core.Structural("turns[*].parts[*].text", core.Content).Must(jsonscan.String),
	core.Structural("turns[*].parts[*].type=image", core.Image),
	core.Member("turns[*].parts[*].image").Is(strict.Inside).Must(jsonscan.Object),
	core.Structural("turns[*].parts[*].image.url", core.Image).Must(jsonscan.String),
	core.Member("turns[*].parts[*].image.data").Without("url"),
	core.Hint("turns[*].parts[*].image.alt", core.Nothing),
	core.Hint("turns[*].parts[*].mark", core.CachePart).May(jsonscan.Object),
	core.Hint("turns[*].parts[*].*", core.Nothing),
	core.Member("options").Is(strict.WantGroups),
	core.Shaping("options.group.seed", core.Seed),
	core.Shaping("seed", core.TopK).Is(strict.Integer),
}, core.Of("tool",
	core.Structural("turns[*].id", core.ToolResult).Must(jsonscan.String),
)...), core.Hint("*", core.Nothing))...)

func TestTheObjectsOfRequestsFollowFromTheRows(t *testing.T) {
	parts := described.Members("turns[*].parts[*]")
	assert.Equal(t, []string{"type", "text", "image", "mark"}, parts.Names())
	assert.Equal(t, []string{"url", "data"}, described.Members("turns[*].parts[*].image").Names(), "a hint without a concept is a member as any other")
	assert.Equal(t, []string{"role", "parts", "id"}, described.Members("turns[*]").Names())
	assert.Equal(t, "text", parts.Untyped().Type())
	assert.Panics(t, func() { described.Members("turns[*].nothing") })
	for _, name := range described.Names() {
		assert.NotEqual(t, "options", name, "a row that only describes a member is none of a field")
	}
}

func TestAPassDemandsWhatTheRowsSay(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m","turns":[]}`:                                   "",
		`{"turns":[]}`:                                               "model: required",
		`{"model":"m"}`:                                              "turns: required",
		`{"seed":"x","turns":5,"model":"m"}`:                         "turns: must be an array of objects",
		`{"seed":"x","turns":null,"model":"m"}`:                      "turns: required",
		`{"model":"m","turns":[],"seed":"x"}`:                        "seed: must be an integer",
		`{"model":"m","turns":[],"options":[]}`:                      "options: must be an object",
		`{"model":"m","turns":[5]}`:                                  "turns[0]: must be an object",
		`{"model":"m","turns":[{"parts":[]}]}`:                       "turns[0].role: required",
		`{"model":"m","turns":[{"role":"x"}]}`:                       "turns[0].role: must be 'user', 'tool' or 'model', got 'x'",
		`{"model":"m","turns":[{"role":"user"}]}`:                    "turns[0].parts: required",
		`{"model":"m","turns":[{"role":"model","id":5,"parts":[]}]}`: "",

		`{"model":"m","turns":[{"role":"tool","id":5,"parts":[]}]}`:                               "turns[0].id: must be a string, got number",
		`{"model":"m","turns":[{"role":"user","parts":[{}]}]}`:                                    "turns[0].parts[0].text: required",
		`{"model":"m","turns":[{"role":"user","parts":[{"type":"new"}]}]}`:                        "",
		`{"model":"m","turns":[{"role":"user","parts":[{"text":"a","mark":5}]}]}`:                 "turns[0].parts[0].mark: must be an object, got number",
		`{"model":"m","turns":[{"role":"user","parts":[{"type":"image"}]}]}`:                      "turns[0].parts[0].image: required",
		`{"model":"m","turns":[{"role":"user","parts":[{"type":"image","image":{}}]}]}`:           "turns[0].parts[0].image.url: required",
		`{"model":"m","turns":[{"role":"user","parts":[{"image":{},"type":"image"}]}]}`:           "turns[0].parts[0].image.url: required",
		`{"model":"m","turns":[{"role":"user","parts":[{"image":{},"text":"a","type":"text"}]}]}`: "",
		`{"model":"m","turns":[{"role":"user","parts":[{"image":{},"text":"a"}]}]}`:               "",

		`{"model":"m","turns":[{"role":"user","parts":[{"type":"image","image":{"data":"b","url":"a"}}]}]}`:  "turns[0].parts[0].image.data: must not be sent together with url",
		`{"model":"m","turns":[{"role":"user","parts":[{"type":"image","image":{"data":null,"url":"a"}}]}]}`: "",
		`{"model":"m","turns":[{"role":"user","parts":[{"type":"image","image":{"data":"b"}}]}]}`:            "turns[0].parts[0].image.url: required",

		`{"model":"m","turns":[{"role":"user","parts":[{"image":{},"type":5}]}]}`: "",
		`{"model":"m","turns":[],"options":{"group":{"a":1,"A":2}}}`:              "options.group.a: must appear once, letter case ignored",
		`{"model":"m","turns":[],"options":{"other":{"a":1,"A":2}}}`:              "",
	} {
		_, fault := strict.Read([]byte(body), strict.Brackets, described.Fields()).End()
		if want == "" {
			assert.Nil(t, fault, body)
		} else if assert.NotNil(t, fault, body) {
			assert.Equal(t, want, fault.Message, body)
		}
	}
}
