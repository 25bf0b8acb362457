package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

const (
	pageU = `{"type":"web_search_result_location","url":"u\u00e9","title":"t","cited_text":"words","encrypted_index":"x"}`
	pageV = `{"title":null,"url":"v","type":"web_search_result_location"}`
)

func cites(index int, citation string) string {
	return delta(index, `{"type":"citations_delta","citation":`+citation+`}`)
}

// A bug was here: sources of the web, which chat answers have a place for, were
// left out.
func TestCitedPagesHaveTheirRangeOfTheText(t *testing.T) {
	stream := []string{
		opens(0, `{"type":"text","text":"é☂ "}`), `{"type":"content_block_stop","index":0}`,
		opens(1, `{"type":"text","text":"","citations":[]}`),
		cites(1, pageU), delta(1, `{"type":"text_delta","text":"😀a"}`), cites(1, pageU), delta(1, `{"type":"text_delta","text":"b"}`), cites(1, pageV),
		`{"type":"content_block_stop","index":1}`,
	}
	whole := `{"content":[{"type":"text","text":"é☂ "},{"citations":[` + pageU + `,` + pageU + `,` + pageV + `],"type":"text","text":"😀ab"}]}`
	sources := []string{`source "ué" "t" 3..6`, `source "v" "" 3..6`}

	var r translatetest.Transcript
	p := answer.NewParser(&r)
	for _, data := range stream {
		p.Event(sse.Event{Data: []byte(data)})
	}
	assert.Equal(t, sources, r.Lines[len(r.Lines)-2:], "the second quotation of a page adds nothing")
	assert.Equal(t, "content.*.citations.*.cited_text,content.*.citations.*.encrypted_index", p.Losses().String())

	r = translatetest.Transcript{}
	p = answer.NewParser(&r)
	p.Answer([]byte(whole))
	assert.Equal(t, sources, r.Lines[3:5])
	assert.Equal(t, "content.*.citations.*.cited_text,content.*.citations.*.encrypted_index", p.Losses().String())
}

func TestCitationsThatAreNoPagesOfATextAreLost(t *testing.T) {
	const inText = `{"type":"text","text":"a","citations":%s}`
	for _, block := range []string{
		fmt.Sprintf(inText, `[{"type":"char_location","cited_text":"a"}]`),
		fmt.Sprintf(inText, `[{"type":"web_search_result_location","title":"t"}]`),
		fmt.Sprintf(inText, `[{"type":"web_search_result_location","url":"a","url":"b"}]`),
		fmt.Sprintf(inText, `["u"]`),
		fmt.Sprintf(inText, `{"url":"u"}`),
		`{"type":"thinking","thinking":"a","citations":[` + pageV + `]}`,
	} {
		var r translatetest.Transcript
		p := answer.NewParser(&r)
		p.Answer([]byte(`{"content":[` + block + `]}`))
		assert.Equal(t, "content.*.citations", p.Losses().String(), block)
		assert.NotContains(t, strings.Join(r.Lines, " "), "source", block)
	}
}

func TestCitationsOfBlocksThatDoNotEndAreLost(t *testing.T) {
	for _, events := range [][]string{
		{start, opens(0, `{"type":"text","text":"a"}`), cites(0, pageV), ends, `{"type":"message_stop"}`},
		{start, cites(0, pageV), ends, `{"type":"message_stop"}`},
	} {
		p := answer.NewParser(&translatetest.Transcript{})
		for _, data := range events {
			p.Event(sse.Event{Data: []byte(data)})
		}
		assert.Equal(t, "content.*.citations", p.Losses().String())
	}
}

// Ensures that a stream of nothing but citations cannot take all the memory there
// is.
func TestSourcesAreBounded(t *testing.T) {
	var r translatetest.Transcript
	p := answer.NewParser(&r)
	p.Event(sse.Event{Data: []byte(opens(0, `{"type":"text","text":"a"}`))})
	for i := range 20 {
		page := fmt.Sprintf(`{"type":"web_search_result_location","url":"%d%s"}`, i, strings.Repeat("x", 100_000))
		p.Event(sse.Event{Data: []byte(cites(0, page))})
	}
	p.Event(sse.Event{Data: []byte(`{"type":"content_block_stop","index":0}`)})
	assert.Len(t, r.Lines, 2+10)
	assert.Equal(t, "content.*.citations", p.Losses().String())
}
