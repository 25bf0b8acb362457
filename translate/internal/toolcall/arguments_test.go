package toolcall_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
)

func TestArgumentsBecomeAnObject(t *testing.T) {
	for name, tt := range map[string]struct{ text, want, cut string }{
		"empty":               {"", `{}`, `{}`},
		"space":               {" \n\t", `{}`, `{}`},
		"null":                {" null ", `{}`, `{}`},
		"an object":           {` {"a": 12345678901234567890, "b":"<é>"} `, `{"a": 12345678901234567890, "b":"<é>"}`, `{"a": 12345678901234567890, "b":"<é>"}`},
		"an object in a text": {`"{\"a\":1}"`, `{"a":1}`, `{"a":1}`},
		"space in a text":     {`" {} "`, `{}`, `{}`},
		"another text":        {`"a"`, `{"_arguments":"a"}`, `{"_arguments":"a"}`},
		"an array in a text":  {`"[1]"`, `{"_arguments":"[1]"}`, `{"_arguments":"[1]"}`},
		"an empty text":       {`""`, `{"_arguments":""}`, `{"_arguments":""}`},
		"an array":            {`[1]`, `{"_arguments":[1]}`, `{"_arguments":[1]}`},
		"a number":            {`1.50`, `{"_arguments":1.50}`, `{"_arguments":1.50}`},
		"a boolean":           {`true`, `{"_arguments":true}`, `{"_arguments":true}`},
		"half an object":      {`{"a":`, `{"_invalid_arguments":"{\"a\":"}`, `{}`},
		"two objects":         {`{}{}`, `{"_invalid_arguments":"{}{}"}`, `{}`},
		"no JSON":             {" x ", `{"_invalid_arguments":" x "}`, `{}`},
		"single quotes":       {`{'a':1}`, `{"_invalid_arguments":"{'a':1}"}`, `{}`},
		"a byte order mark":   {"\ufeff{}", `{}`, `{}`},
		"invalid UTF-8":       {"{\"a\":\"\xff\"}", `{"_invalid_arguments":"{\"a\":\"` + "\ufffd" + `\"}"}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "x"+tt.want, string(toolcall.AppendArguments([]byte("x"), []byte(tt.text), false)))
			assert.Equal(t, tt.cut, string(toolcall.AppendArguments(nil, []byte(tt.text), true)))
		})
	}
}

func TestArgumentsKnowWhenTheyAreComplete(t *testing.T) {
	for text, complete := range map[string]bool{
		"": false, " ": false, "{": false, "{}": true, " {} ": true, "{}x": false, "{}{}": false,
		`{"a":"}"}`: true, `{"a":"\"}`: false, `{"a":"\\"}`: true, `{"a":{"b":[1,{}]}}`: true, `{"a":[}`: false,
		`"a`: false, `"a"`: true, `"a\"`: false, `"a"b`: false, "[": false, "[1]": true, "[[]": false,
		"12": false, "true": false, "null": false, "}": true,
	} {
		var a toolcall.Arguments
		a.Add([]byte(text))
		assert.Equal(t, complete, a.Complete(), text)

		var b toolcall.Arguments
		for i := range len(text) {
			b.Add([]byte(text[i : i+1]))
		}
		assert.Equal(t, a, b, text)
	}
}

func TestArgumentsKnowTheirKind(t *testing.T) {
	var a toolcall.Arguments
	a.Add([]byte(" \n"))
	assert.False(t, a.IsObject())
	a.Add([]byte("{"))
	assert.True(t, a.IsObject())
	a.Add([]byte("["))
	assert.True(t, a.IsObject())
}

// FuzzArguments checks that whatever a provider sends becomes an object, that
// objects stay what they are, and that every object is known to be complete.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", `{"a":1}`, `"{}"`, "[1]", `{"a":`, "x", "\xff", `"\ud800"`, "\ufeff{}"} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		out := toolcall.AppendArguments(nil, text, false)
		var object map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(out, &object), "%s", out)

		var whole, pieces toolcall.Arguments
		whole.Add(text)
		random := rand.New(rand.NewPCG(seed, 0))
		for rest := text; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			pieces.Add(rest[:n])
			rest = rest[n:]
		}
		require.Equal(t, whole, pieces)
		if json.Valid(text) && json.Unmarshal(text, &object) == nil && object != nil {
			require.True(t, whole.Complete())
		}
	})
}
