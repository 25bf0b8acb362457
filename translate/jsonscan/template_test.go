package jsonscan_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// slotOf returns the position of a text that a document contains once.
func slotOf(t testing.TB, document, text string) jsonscan.Slot {
	t.Helper()
	require.Equal(t, 1, strings.Count(document, text))
	start := strings.Index(document, text)
	return jsonscan.Slot{Start: start, End: start + len(text)}
}

const likeDocument = `{"n":12,"index":0,"delta":"a\"b","pad":"xy"}`

// learned is a template of three holes: the text, the number in front of it, the
// padding behind it.
func learned(t testing.TB) *jsonscan.Template {
	var template jsonscan.Template
	template.Learn([]byte(likeDocument), [jsonscan.MaxHoles]jsonscan.Slot{
		slotOf(t, likeDocument, `"a\"b"`), slotOf(t, likeDocument, "12"), slotOf(t, likeDocument, `"xy"`),
	})
	return &template
}

func TestATemplateRecognisesDocumentsThatDifferInItsHoles(t *testing.T) {
	for document, want := range map[string][3]string{
		likeDocument:                                        {`"a\"b"`, "12", `"xy"`},
		`{"n":0,"index":0,"delta":"","pad":""}`:             {`""`, "0", `""`},
		`{"n":-1.5e3,"index":0,"delta":"é","pad":"\u00e9"}`: {`"é"`, "-1.5e3", `"\u00e9"`},
	} {
		values, ok := learned(t).Match([]byte(document))
		assert.True(t, ok, document)
		for i, value := range values {
			assert.Equal(t, want[i], string(value.Raw), document)
		}
		first, size := learned(t).MatchLine([]byte(document + "\n\n" + document))
		assert.Equal(t, values, first)
		assert.Equal(t, len(document), size)
	}
}

func TestATemplateRefusesAllElse(t *testing.T) {
	for _, document := range []string{
		"", "{", likeDocument[:len(likeDocument)-1], likeDocument + " ",
		`{"n":12,"index":1,"delta":"a","pad":"xy"}`,
		`{"n":"12","index":0,"delta":"a","pad":"xy"}`,
		`{"n":012,"index":0,"delta":"a","pad":"xy"}`,
		`{"n":12,"index":0,"delta":null,"pad":"xy"}`,
		`{"n":12,"index":0,"delta":"a","more":1,"pad":"xy"}`,
		`{"n":12,"index":0,"delta":"a","pad":"xy","more":1}`,
		"{\"n\":12,\"index\":0,\"delta\":\"a\nb\",\"pad\":\"xy\"}",
		"{\"n\":12,\"index\":0,\"delta\":\"\xff\",\"pad\":\"xy\"}",
		`{"n":12,"index":0,"delta":"a`,
		`{"n":12,"index":0,"delta":"\q","pad":"xy"}`,
	} {
		_, ok := learned(t).Match([]byte(document))
		assert.False(t, ok, document)
	}
	forgotten := learned(t)
	forgotten.Forget()
	_, ok := forgotten.Match([]byte(likeDocument))
	assert.False(t, ok)
	forgotten.Learn([]byte(likeDocument), [jsonscan.MaxHoles]jsonscan.Slot{})
	_, ok = forgotten.Match([]byte(likeDocument))
	assert.False(t, ok, "a template without holes")
}

func TestAnObjectMayDiffer(t *testing.T) {
	const document = `{"text":"a","usage":{"n":1}}`
	var template jsonscan.Template
	template.Learn([]byte(document), [jsonscan.MaxHoles]jsonscan.Slot{slotOf(t, document, `"a"`), {}, slotOf(t, document, `{"n":1}`)})
	for usage, recognised := range map[string]bool{
		`{"n":1}`: true, `{}`: true, `{"n": [2.5, {"m":"é"}]}`: true,
		`[]`: false, `null`: false, `{"n":1`: false, `{"n":01}`: false, "{\"n\":\"\xff\"}": false, `{},"n":{}`: false,
		`{"n":[[[[[[[1]]]]]]]}`: true, `{"n":[[[[[[[[1]]]]]]]]}`: false,
	} {
		values, ok := template.Match([]byte(`{"text":"a","usage":` + usage + `}`))
		assert.Equal(t, recognised, ok, usage)
		if ok {
			assert.Equal(t, usage, string(values[2].Raw))
		}
		_, size := template.MatchLine([]byte(`{"text":"a","usage":` + usage + `}`))
		assert.Zero(t, size, "an object may have line breaks")
	}
}

// plain matches a string of ASCII without escapes.
var plain = regexp.MustCompile(`^"[ !#-\[\]-\x7f]*"$`)

// FuzzTemplate checks that what is recognised is valid, has in its holes what encoding/json
// reads there, and is plain if it looks so.
func FuzzTemplate(f *testing.F) {
	f.Add(likeDocument)
	f.Add(`{"n":1,"index":0,"delta":"\ud800","pad":""}`)
	f.Add(`{"n":1,"index":0,"delta":"eight by\u0074es, and é","pad":"0123456789"}`)
	f.Add("{\"n\":1,\"index\":0,\"delta\":\"eight b\x7ftes é\",\"pad\":\"0123456\x7f\"}")
	f.Fuzz(func(t *testing.T, document string) {
		values, ok := learned(t).Match([]byte(document))
		if !ok {
			return
		}
		var read struct {
			N          json.Number
			Delta, Pad string
		}
		require.NoError(t, json.Unmarshal([]byte(document), &read))
		assert.Equal(t, read.Delta, string(jsonscan.AppendText(nil, values[0].Raw)))
		assert.Equal(t, read.N.String(), string(values[1].Raw))
		assert.Equal(t, read.Pad, string(jsonscan.AppendText(nil, values[2].Raw)))
		for _, v := range values {
			assert.Equal(t, plain.Match(v.Raw), v.Plain, "%s", v.Raw)
		}
	})
}
