package pairs_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestMediaTowardsChat(t *testing.T) {
	user := func(blocks string) string { return conversation(`{"role":"user","content":[` + blocks + `]}`) }
	parts := func(parts string) string { return asked(`{"role":"user","content":[` + parts + `]}`) }
	text := func(text string) string { return asked(`{"role":"user","content":"` + text + `"}`) }
	pdf := `{"type":"base64","media_type":"application/pdf","data":"AAAA"}`
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{
			name: "an image", body: user(`{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j\/AA=="},"transformations":[{}]},{"type":"text","text":"c"}`),
			want:   parts(`{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,/9j\/AA=="}},{"type":"text","text":"c"}`),
			losses: "messages.*.content.*.transformations hint",
		},
		{name: "an image by its address", body: user(`{"type":"image","source":{"type":"url","url":"https://x/i.png","etag":1}}`), want: parts(`{"type":"image_url","image_url":{"url":"https://x/i.png"}}`), losses: "messages.*.content.*.source.etag hint"},
		{
			name: "a breakpoint on an image", traits: "cache_breakpoints on", body: user(`{"type":"image","source":{"type":"url","url":"u"},"cache_control":{"type":"ephemeral"}}`),
			want: parts(`{"type":"image_url","image_url":{"url":"u"},"prompt_cache_breakpoint":{"mode":"explicit"}}`),
		},
		{name: "a PDF", traits: "files on", body: user(`{"type":"document","title":"t.pdf","context":"c","source":` + pdf + `}`), want: parts(`{"type":"text","text":"c"},{"type":"file","file":{"filename":"t.pdf","file_data":"data:application/pdf;base64,AAAA"}}`)},
		{name: "a PDF without a name", traits: "files on", body: user(`{"type":"document","source":` + pdf + `}`), want: parts(`{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,AAAA"}}`)},
		{name: "a PDF where no files are taken", body: user(`{"type":"document","source":` + pdf + `}`), fault: "messages.0.content.0.type: 'document'" + notM1 + "chat): this model does not support PDF input"},
		{
			name: "a PDF that is left out", traits: "files drop", body: user(`{"type":"text","text":"see"},{"type":"document","title":"t\".pdf","context":"c","source":` + pdf + `}`),
			want: asked(`{"role":"user","content":"see\nc\n[t\".pdf was left out: this model does not support PDF input]"}`), losses: "messages.*.content.*.type shaping",
		},
		{
			name: "a PDF elsewhere that is left out", traits: "files drop", body: user(`{"type":"document","source":{"type":"url","url":"https://x/d.pdf"}}`),
			want: asked(`{"role":"user","content":"[document.pdf was left out: this model does not support PDF input]"}`), losses: "messages.*.content.*.source.type shaping",
		},
		{name: "a document of text", body: user(`{"type":"document","title":"T","context":"C","source":{"type":"text","media_type":"text/plain","data":"d"}}`), want: text(`T\nC\nd`)},
		{name: "a document of text without a title", body: user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}},{"type":"text","text":"a"}`), want: text(`d\na`)},
		{name: "a title that is no string", body: user(`{"type":"document","title":7,"source":{"type":"text","media_type":"text/plain","data":"d"}}`), fault: "messages.0.content.0.title: must be a string"},
		{
			name: "a document of items", body: user(`{"type":"document","title":"T","source":{"type":"content","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"u"}}]}},{"type":"text","text":"b"}`),
			want: parts(`{"type":"text","text":"T"},{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"b"}`),
		},
		{name: "a document of one text item", body: user(`{"type":"document","source":{"type":"content","content":"a"}}`), want: text(`a`)},
		{
			name: "a document of another item", body: user(`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"},{"type":"search_result","title":"t","source":"s","content":[]}]}}`),
			fault: "messages.0.content.0.source.content.1.type: 'search_result'" + notM1 + "chat)",
		},
		{
			name: "citations", body: user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"citations":{"enabled":true}}`),
			want: text(`d`), losses: "messages.*.content.*.citations shaping",
		},
		{name: "no citations", body: user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"citations":{"enabled":false}}`), want: text(`d`)},
		{
			name: "a search result", body: user(`{"type":"search_result","title":"T","source":"https://s","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}`),
			want: text(`T\nhttps://s\na\nb`), losses: "messages.*.content.*.content.*.cache_control hint",
		},
		{
			name: "a search result of images", body: user(`{"type":"search_result","title":"T","source":"s","content":[{"type":"image","source":{"type":"url","url":"u"}}]}`),
			fault: "messages.0.content.0.content.0.type: 'image'" + notM1 + "chat)",
		},
	})
}
