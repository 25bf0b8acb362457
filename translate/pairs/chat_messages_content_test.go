package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestMediaOfChatTowardsMessages(t *testing.T) {
	image := func(url string) string { return chatUser(`{"type":"image_url","image_url":{"url":"` + url + `"}}`) }
	shown := func(kind, data string) string {
		return messagesBody(messageOf("user", `{"type":"image","source":{"type":"base64","media_type":"image/`+kind+`","data":"`+data+`"}}`))
	}
	file := func(members string) string { return chatUser(`{"type":"file","file":{` + members + `}}`) }
	const (
		badImage = "messages[0].content[0].image_url.url:" + notM1 + "messages)"
		badFile  = "messages[0].content[0].file.file_data:" + notM1 + "messages)"
	)
	runRenderCases(t, translate.Chat, translate.Messages, []renderCase{
		{name: "an image", body: talk(image("data:image/png;base64,AA/+")), want: shown("png", "AA/+")},
		{name: "a jpg", body: talk(image("DATA:image/JPG;charset=x;Base64,AAAA")), want: shown("jpeg", "AAAA")},
		{name: "a gif", body: talk(image("data:image/gif;base64,AAAA")), want: shown("gif", "AAAA")},
		{name: "a webp", body: talk(image("data:image/webp;base64,AAAA")), want: shown("webp", "AAAA")},
		{name: "escapes and white space", body: talk(image(`data:image\/png;base64, AA\n AA\t\u0041\/+`)), want: shown("png", "AAAAA/+=")},
		{name: "data of no kind", body: talk(image("data:;base64,AAAA")), fault: badImage},
		{name: "data with percent signs", body: talk(image("data:image/png,A%41")), want: shown("png", "QUE=")},
		{name: "data without an end", body: talk(image("data:image/png;base64")), fault: badImage},
		{name: "a URL", body: talk(image(`HTTPS:\/\/x\/y?z=1&a`)), want: messagesBody(messageOf("user", `{"type":"image","source":{"type":"url","url":"HTTPS:\/\/x\/y?z=1&a"}}`))},
		{name: "no URL", body: talk(chatUser(`{"type":"image_url","image_url":{}}`)), fault: badImage},
		{name: "no image", body: talk(chatUser(`{"type":"image_url"}`)), fault: "messages[0].content[0].image_url: must be an object"},
		{name: "an image that is a text", body: talk(chatUser(`{"type":"image_url","image_url":"https://x"}`)), fault: "messages[0].content[0].image_url: must be an object"},
		{
			name: "the detail", body: talk(chatUser(`{"type":"image_url","image_url":{"url":"https://x","detail":"low","z":1}}`)),
			want: messagesBody(messageOf("user", `{"type":"image","source":{"type":"url","url":"https://x"}}`)), losses: "messages[*].content[*].image_url.z hint, messages[*].content[*].image_url.detail hint",
		},
		{
			name: "a PDF", body: talk(file(`"filename":"a\u0062.pdf","file_data":"data:application/pdf;base64,JVBE"`)),
			want: messagesBody(messageOf("user", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"a\u0062.pdf"}`)),
		},
		{name: "a PDF without a name", body: talk(file(`"file_data":"data:application/pdf;base64,JVBE"`)), want: messagesBody(messageOf("user", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"}}`))},
		{
			name: "a plain text", body: talk(file(`"filename":"a","file_data":"data:text/plain;charset=utf-8;base64,ImEiCg=="`)),
			want: messagesBody(messageOf("user", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"\"a\"\n"},"title":"a"}`)),
		},
		{name: "a plain text that is none", body: talk(file(`"file_data":"data:text/plain;base64,/w=="`)), fault: badFile},
		{name: "a plain text that is not encoded", body: talk(file(`"file_data":"data:text/plain;base64,?"`)), fault: badFile},
		{name: "no data", body: talk(file(`"filename":"a"`)), fault: badFile},
		{name: "no file", body: talk(chatUser(`{"type":"file"}`)), fault: "messages[0].content[0].file: must be an object"},
	})
}

func TestTheWayBackRemembersTheMediaOfAChatRequest(t *testing.T) {
	for body, want := range map[string][2]bool{
		hi: {false, false},
		chatUser(`{"type":"image_url","image_url":{"url":"https://x"}}`):                    {true, true},
		chatUser(`{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBE"}}`): {false, true},
	} {
		_, r := renderCaseOf(t, translate.Chat, translate.Messages, renderCase{body: talk(body)})
		assert.Equal(t, want, [2]bool{r.Answer.Input.Images, r.Answer.Input.Media}, body)
	}
}

func TestTheWayBackRemembersWhatAChatRequestAskedFor(t *testing.T) {
	_, r := renderCaseOf(t, translate.Chat, translate.Messages, renderCase{body: talk(hi, `"stream":true,"stream_options":{"include_usage":true},"stop":["a","\n"]`)})
	assert.Equal(t, translate.AnswerContext{Stream: true, IncludeUsage: true, Cuts: translate.Cuts{Stops: []string{"a", "\n"}, Enforced: []string{"\n"}}}, r.Answer)
}
