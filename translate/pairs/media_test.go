package pairs_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// inlet is a field of a client's format that has contents in bytes.
type inlet struct {
	name   string
	source translate.Format
	named  bool // the content may have the name of a file
	body   func(mediaType, data, file string) string
}

var inlets = []inlet{
	{"image_url", translate.Chat, false, func(mediaType, data, _ string) string {
		return pictured(`"url":"data:` + mediaType + `;base64,` + data + `"`).body
	}},
	{"file", translate.Chat, true, func(mediaType, data, file string) string {
		return filed(`"filename":"` + file + `","file_data":"data:` + mediaType + `;base64,` + data + `"`).body
	}},
	{"image_url", translate.Responses, false, func(mediaType, data, _ string) string {
		return showing(`{"type":"input_image","image_url":"data:` + mediaType + `;base64,` + data + `"}`).body
	}},
	{"file_data", translate.Responses, true, func(mediaType, data, file string) string {
		return showing(`{"type":"input_file","filename":"` + file + `","file_data":"DATA:` + mediaType + `;BASE64,` + data + `"}`).body
	}},
	{"inlineData", translate.Gemini, true, func(mediaType, data, file string) string {
		if mediaType == "" {
			mediaType = "application/octet-stream" // the format requires a type
		}
		return ofParts(`{"inlineData":{"mimeType":"` + mediaType + `","displayName":"` + file + `","data":"` + data + `"}}`).body
	}},
	{"document", translate.Messages, true, func(mediaType, data, file string) string {
		return fromUser(`{"type":"document","title":"` + file + `","source":{"type":"base64","media_type":"` + mediaType + `","data":"` + data + `"}}`).body
	}},
}

func (i inlet) render(t *testing.T, target translate.Format, mediaType, data, file string) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	body := i.body(mediaType, data, file)
	_, wrong := formats.Of(i.source).Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, wrong, body)
	info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(target), Traits: traitsOf(t, "files true; video true"), Seals: sealer}
	out, r, refused := pairs.Render(nil, i.source, target, []byte(body), info)
	return string(out), r, refused
}

// What each provider format gets of a kind of content, with "%" for the data; formats that are
// not here refuse the kind.
var (
	asText   = map[translate.Format]string{translate.Messages: `"type":"text","media_type":"text/plain","data":"%"`, translate.Chat: `%"`, translate.Responses: `%"`, translate.Gemini: `%"`, translate.Converse: `%"`}
	asPDF    = map[translate.Format]string{translate.Messages: `"media_type":"application/pdf","data":"%"`, translate.Chat: `"file_data":"data:application/pdf;base64,%"`, translate.Responses: `"file_data":"data:application/pdf;base64,%"`, translate.Gemini: `"mimeType":"application/pdf","data":"%"`, translate.Converse: `"document":{"format":"pdf"`}
	asJPEG   = map[translate.Format]string{translate.Messages: `"media_type":"image/jpeg","data":"%"`, translate.Chat: `"url":"data:image/jpeg;base64,%"`, translate.Responses: `"image_url":"data:image/jpeg;base64,%"`, translate.Gemini: `"mimeType":"image/jpeg","data":"%"`, translate.Converse: `"image":{"format":"jpeg"`}
	nowhere  = map[translate.Format]string{}
	ofOffice = func(word, mediaType string) map[translate.Format]string {
		return map[translate.Format]string{translate.Converse: `"document":{"format":"` + word + `"`, translate.Responses: `"file_data":"data:` + mediaType + `;base64,%"`}
	}
	ofVideo = func(mediaType, word string) map[translate.Format]string { // with the trait video
		return map[translate.Format]string{
			translate.Gemini: `"mimeType":"` + mediaType + `","data":"%"`, translate.Converse: `"video":{"format":"` + word + `","source":{"bytes":"%"`,
			translate.Chat: `{"type":"video_url","video_url":{"url":"data:` + mediaType + `;base64,%"}}`,
		}
	}
	ofSound = func(word string) map[translate.Format]string {
		return map[translate.Format]string{translate.Chat: `{"type":"input_audio","input_audio":{"data":"%","format":"` + word + `"}}`, translate.Gemini: `"inlineData":{"mimeType":"audio/` + word + `","data":"%"}`}
	}
)

const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// Clients of chat send files of any kind, and the file stays in the history: a CSV, which every
// model reads as a text, and a DOCX, which some services take, ended the conversation with 400,
// and so did sound for a model that hears. A PDF as an image became an image of the format pdf.
func TestContentsReachWhoeverTakesTheirKind(t *testing.T) {
	for _, c := range []struct {
		name, mediaType, file, data string
		want                        map[translate.Format]string
	}{
		{"CSV", "text/csv", "a.csv", "a,b", asText},
		{"Markdown in capitals with a parameter", "TEXT/Markdown; variant=GFM", "a.md", "# a", asText},
		{"JSON", "application/json", "a.json", "[1]", asText},
		{"JSON of a vendor", "application/vnd.api+json", "a", "[1]", asText},
		{"XML", "application/xml", "a.xml", "<a/>", asText},
		{"YAML", "application/x-yaml", "a", "a: 1", asText},
		{"a script", "application/typescript", "a.ts", "let a", asText},
		{"code that only the name shows", "application/octet-stream", "MAIN.GO", "package a", asText},
		{"a text that only the name shows", "", "notes.log", "a", asText},
		{"a text of another charset", "text/plain;charset=ISO-8859-1", "a.txt", "caf\xe9", asText},
		{"a text of two bytes each", "text/plain; charset=utf-16le", "a.txt", "\xff\xfea\x00\xe9\x00", asText},
		{"PDF", "application/pdf", "a.pdf", "%PDF-1.7", asPDF},
		{"PDF by another name", "application/x-pdf", "a.pdf", "%PDF-1.7", asPDF},
		{"PDF that only the name shows", "application/octet-stream", "a.PDF", "%PDF-1.7", asPDF},
		{"JPEG by another name", "image/JPG", "a.jpg", "\xff\xd8\xff", asJPEG},
		{"DOCX", docx, "a.docx", "PK", ofOffice("docx", docx)},
		{"DOC", "application/msword", "a.doc", "PK", ofOffice("doc", "application/msword")},
		{"XLSX that only the name shows", "application/octet-stream", "a.xlsx", "PK", ofOffice("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")},
		{"slides", "application/vnd.ms-powerpoint", "a.ppt", "PK", map[translate.Format]string{translate.Responses: `"file_data":"data:application/vnd.ms-powerpoint;base64,%"`}},
		{"WAV", "audio/x-wav", "a.wav", "RIFF", ofSound("wav")},
		{"MP3", "audio/mpeg", "a.mp3", "ID3", ofSound("mp3")},
		{"FLAC", "audio/flac", "a.flac", "fLaC", map[translate.Format]string{translate.Gemini: `"mimeType":"audio/flac","data":"%"`}},
		{"a video", "video/mp4", "a.mp4", "ftyp", ofVideo("video/mp4", "mp4")},
		{"a video of a camera", "video/mov", "a.mov", "ftyp", ofVideo("video/quicktime", "mov")},
		{"a video of a telephone", "video/3gpp", "a.3gp", "ftyp", ofVideo("video/3gpp", "three_gp")},
		{"a video of a shop", "video/x-m4v", "a.m4v", "ftyp", ofVideo("video/mp4", "mp4")},
		{"a video by the end of its name", "video/x-mpg", "a.mpg", "G", ofVideo("video/mpeg", "mpeg")},
		{"a video of an older program", "video/avi", "a.avi", "G", map[translate.Format]string{translate.Gemini: `"mimeType":"video/x-msvideo","data":"%"`}},
		{"a video that no table has", "video/mp2t", "a.ts", "G\x00\x00\x10", map[translate.Format]string{translate.Gemini: `"mimeType":"video/mp2t","data":"%"`}},
		{"HEIC", "image/heic", "a.heic", "ftyp", map[translate.Format]string{translate.Gemini: `"mimeType":"image/heic"`, translate.Chat: `data:image/heic;base64,%`, translate.Responses: `data:image/heic;base64,%`}},
		{"an archive", "application/zip", "a.zip", "PK\x03\x04", nowhere},
		{"nothing known", "application/octet-stream", "a.bin", "PK\x03\x04", nowhere},
	} {
		for _, in := range inlets {
			for _, to := range spoken {
				if in.source == to || !in.named && (c.mediaType == "" || c.mediaType == "application/octet-stream") {
					continue
				}
				t.Run(c.name+" as "+in.name+" of "+string(in.source)+" to "+string(to), func(t *testing.T) {
					data := base64.StdEncoding.EncodeToString([]byte(c.data))
					out, r, refused := in.render(t, to, c.mediaType, data, c.file)
					want, takes := c.want[to]
					if !takes {
						require.NotNil(t, refused, out)
						assert.Equal(t, fault.CodeUntranslatable, refused.Code)
						assert.NotEmpty(t, refused.Param)
						return
					}
					require.Nil(t, refused)
					requireRight(t, to, []byte(out))
					if c.want["gemini"] == asText[translate.Gemini] {
						data = strings.NewReplacer("caf\xe9", "caf\u00e9", "\xff\xfea\x00\xe9\x00", "a\u00e9").Replace(c.data)
					}
					assert.Contains(t, out, strings.Replace(want, "%", data, 1))
					assert.NotContains(t, r.Losses.String(), "data")
				})
			}
		}
	}
}

// Tools for browsers state "image/jpeg" for screenshots that are PNG. OpenAI and Gemini answer, but
// Claude refuses the request, and each later one of the conversation: "Image does not match the
// provided media type".
func TestTheBytesOfAContentDecideItsType(t *testing.T) {
	is := func(mediaType, word string) map[translate.Format]string {
		return map[translate.Format]string{
			translate.Messages: `"media_type":"` + mediaType + `","data":"%"`, translate.Gemini: `"mimeType":"` + mediaType + `","data":"%"`,
			translate.Chat: `"url":"data:` + mediaType + `;base64,%"`, translate.Responses: `"image_url":"data:` + mediaType + `;base64,%"`,
			translate.Converse: `"image":{"format":"` + word + `"`,
		}
	}
	for _, c := range []struct {
		name, stated, data string
		want               map[translate.Format]string
	}{
		{"PNG as JPEG", "image/jpeg", "\x89PNG\r\n\x1a\n\x00\x00", is("image/png", "png")},
		{"PNG as anything", "application/octet-stream", "\x89PNG\r\n\x1a\n\x00\x00", is("image/png", "png")},
		{"PNG as PDF", "application/pdf", "\x89PNG\r\n\x1a\n\x00\x00", is("image/png", "png")},
		{"JPEG as PNG", "image/png", "\xff\xd8\xff\xe0\x00\x10JFIF", asJPEG},
		{"JPEG as a type of no table", "image/x-unknown", "\xff\xd8\xff\xdb", asJPEG},
		{"WebP as JPEG", "image/jpeg", "RIFF\x24\x00\x00\x00WEBPVP8 ", is("image/webp", "webp")},
		{"GIF as WebP", "image/webp", "GIF89a\x01\x00", is("image/gif", "gif")},
		{"HEIC as JPEG", "image/jpeg", "\x00\x00\x00\x18ftypheic", map[translate.Format]string{translate.Gemini: `"mimeType":"image/heic"`, translate.Chat: `data:image/heic;base64,%`, translate.Responses: `data:image/heic;base64,%`}},
		{"PDF as PNG", "image/png", "%PDF-1.7\n", asPDF},
		{"WAV as MP3", "audio/mpeg", "RIFF\x24\x00\x00\x00WAVEfmt ", ofSound("wav")},
		{"cut short", "image/png", "\xff\xd8", is("image/png", "png")},
		{"a text that begins so", "text/plain", "GIF89a is a format", asText},
		{"a script by the type of one desktop", "application/x-shellscript", "echo\n", asText},
		{"a text of no type", "application/octet-stream", "target/\n", asText},
	} {
		for _, in := range inlets {
			for _, to := range spoken {
				want, takes := c.want[to]
				if in.source == to || !takes {
					continue
				}
				data := base64.StdEncoding.EncodeToString([]byte(c.data))
				out, _, refused := in.render(t, to, c.stated, strings.ReplaceAll(data, "/", `\/`), "a")
				require.Nil(t, refused, "%s as %s of %s to %s", c.name, in.name, in.source, to)
				requireRight(t, to, []byte(out))
				if fmt.Sprint(c.want) == fmt.Sprint(asText) {
					data = strings.ReplaceAll(c.data, "\n", `\n`)
				}
				out = strings.ReplaceAll(out, `\/`, "/")
				assert.Contains(t, out, strings.Replace(want, "%", data, 1), "%s as %s of %s to %s", c.name, in.name, in.source, to)
			}
		}
	}
}

// Libraries write the same bytes in several ways.
func TestContentsInOtherSpellings(t *testing.T) {
	for _, c := range []struct{ name, part, want string }{
		{"white space", `"url":"data:image/png;base64, AA\nAA"`, `"data":"AAAA"`},
		{"the other alphabet, without padding", `"url":"data:image/png;base64,-_8"`, `"data":"+/8="`},
		{"percent signs in base64", `"url":"data:image/png;base64,AA%2BA"`, `"data":"AA+A"`},
		{"percent signs", `"url":"data:text/csv,a%2Cb%0A"`, `"data":"a,b\n"`},
		{"no type", `"url":"data:,hello"`, `"data":"hello"`},
		{"a mark of the order of bytes", `"url":"data:text/plain;base64,77u/YQ=="`, `"data":"a"`},
	} {
		out, _, refused := renderOf(t, translate.Chat, translate.Messages, pictured(c.part).body)
		require.Nil(t, refused, c.name)
		assert.Contains(t, out, c.want, c.name)
	}
	out, _, refused := renderOf(t, translate.Chat, translate.Messages, filed(`"filename":"a.csv","file_data":"YSxi"`).body)
	require.Nil(t, refused, "data without an address")
	assert.Contains(t, out, `"data":"a,b"`)
	for _, part := range []string{`"url":"data:text/plain;base64,/w=="`, `"url":"data:text/plain;charset=x-unheard;base64,YQ=="`, `"url":"gs://b/a.png"`} {
		_, _, refused := renderOf(t, translate.Chat, translate.Messages, pictured(part).body)
		require.NotNil(t, refused, part)
		assert.Equal(t, "messages[0].content[0].image_url.url", refused.Param)
	}
}

func renderOf(t *testing.T, source, target translate.Format, body string) (string, core.Rendered, *fault.Fault) {
	t.Helper()
	_, wrong := formats.Of(source).Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, wrong, body)
	info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(target), Traits: traitsOf(t, "files true; video true"), Seals: sealer}
	out, r, refused := pairs.Render(nil, source, target, []byte(body), info)
	return string(out), r, refused
}

// The parts of chat and responses requests for sound and video reach a model that hears and sees.
func TestRecordingsReachGemini(t *testing.T) {
	for _, c := range []struct {
		source     translate.Format
		body, want string
	}{
		{translate.Chat, pieced(`{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"WAV"}}`).body, `{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}`},
		{translate.Chat, pieced(`{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}}`).body, `{"inlineData":{"mimeType":"audio/mp3","data":"SUQz"}}`},
		{translate.Chat, pieced(`{"type":"input_audio","input_audio":{"data":"T2dn","format":"ogg"}}`).body, `{"inlineData":{"mimeType":"audio/ogg","data":"T2dn"}}`},
		{translate.Responses, showing(`{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}`).body, `{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}`},
		// Some clients put a data URL in the place of the data, which was sent as if it were base64.
		{translate.Chat, pieced(`{"type":"input_audio","input_audio":{"data":"data:audio/wav;base64,UklGRg==","format":"wav"}}`).body, `{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}`},
		{translate.Chat, pieced(`{"type":"input_audio","input_audio":{"data":"DATA:audio\/mpeg;base64,SUQz"}}`).body, `{"inlineData":{"mimeType":"audio/mp3","data":"SUQz"}}`},
		{translate.Responses, showing(`{"type":"input_audio","input_audio":{"data":"data:audio/flac;base64,ZkxhQw","format":"flac"}}`).body, `{"inlineData":{"mimeType":"audio/flac","data":"ZkxhQw=="}}`},
		{translate.Chat, pieced(`{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}`).body, `{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}`},
		{translate.Chat, pieced(`{"type":"video_url","video_url":{"url":"https://h/v.webm?x=1"}}`).body, `{"fileData":{"mimeType":"video/webm","fileUri":"https://h/v.webm?x=1"}}`},
		{translate.Chat, pieced(`{"type":"audio_url","audio_url":{"url":"https://h/s.mp3"}}`).body, `{"fileData":{"mimeType":"audio/mp3","fileUri":"https://h/s.mp3"}}`},
	} {
		out, _, refused := renderOf(t, c.source, translate.Gemini, c.body)
		require.Nil(t, refused, c.body)
		assert.Contains(t, out, c.want)
		for _, to := range []translate.Format{translate.Messages, translate.Converse, translate.Completions} {
			if to == translate.Converse && strings.Contains(c.body, "data:video/") {
				continue
			}
			_, _, refused := renderOf(t, c.source, to, c.body)
			require.NotNil(t, refused, "%s to %s", c.body, to)
			assert.Contains(t, refused.Param, "content[0].")
		}
	}
}

// A percent sign in base64 became a quote in the request, so that a client could write members of
// its own, such as the model, behind all checks of its request.
func TestNoContentWritesMembers(t *testing.T) {
	recording := func(kind, member string) inlet {
		return inlet{kind, translate.Chat, false, func(mediaType, data, _ string) string {
			return pieced(`{"type":"` + kind + `","` + kind + `":{"` + member + `":"data:` + mediaType + `;base64,` + data + `"}}`).body
		}}
	}
	sound := inlet{"input_audio", translate.Chat, false, func(mediaType, data, _ string) string {
		return pieced(`{"type":"input_audio","input_audio":{"format":"wav","data":"` + data + `"}}`).body
	}}
	for _, in := range append([]inlet{sound, recording("input_audio", "data"), recording("audio_url", "url"), recording("video_url", "url")}, inlets...) {
		for _, mediaType := range []string{"image/png", "application/pdf", "text/csv", "audio/wav", "video/mp4", `image/x\",\"injected\":\"`, `video/x\\`, `audio/x\u0022`, `text/x\n`, "image/%22,%22injected%22:%22"} {
			for _, data := range []string{"AAAA%22,%22injected%22:%22", `AAAA\",\"injected\":\"`, `AAAA\u0022,\u0022injected\u0022:\u0022`, "AAA%5C", "AAA%0AA", "AAAA%00", "%22%7D%5D%7D%5D,%22injected%22:%22"} {
				for _, to := range spoken {
					if to == in.source {
						continue
					}
					out, _, refused := in.render(t, to, mediaType, data, "a.b")
					if refused != nil {
						continue
					}
					assert.True(t, json.Valid([]byte(out)), "%s to %s: %s", in.name, to, out)
					assert.NotContains(t, out, `"injected":`, "%s to %s: %s", in.name, to, out)
				}
			}
		}
	}
}

// Neither an address nor an image has a place where the bytes of a sound are.
func TestWhatIsNoSoundIsRefusedInItsPlace(t *testing.T) {
	for _, data := range []string{picturePixels, "JVBERi0xLjcK", "https://a/b.wav", "gs://a/b.wav", "data:image/png;base64,AAAA", "file:///a.wav"} {
		part := `{"type":"input_audio","input_audio":{"format":"wav","data":"` + data + `"}}`
		for from, body := range map[translate.Format]string{translate.Chat: pieced(part).body, translate.Responses: showing(part).body} {
			_, _, refused := renderOf(t, from, translate.Gemini, body)
			require.NotNil(t, refused, "%s: %s", from, data)
			assert.Contains(t, refused.Param, "input_audio")
		}
	}
}

// A browser states the type that a program of the machine has registered: CSV was a workbook, and
// TypeScript a video, so that files of text were refused. A file that is none stays what it was.
func TestTextsWithTheTypesOfProgramsAreTexts(t *testing.T) {
	for _, c := range []struct{ name, stated, data, want string }{
		{"a.csv", "application/vnd.ms-excel", "a,b\n", `"title":"a.csv"`}, {"a.ts", "video/mp2t", "let a", `"title":"a.ts"`},
		{"Cargo.lock", "", "[[package]]", `"title":"Cargo.lock"`}, {"a.log", "application/x-zip", "\xff\xfea\x00", `"data":"a"`},
		{"a.xls", "application/vnd.ms-excel", "a,b\n", ""}, {"a.csv", "application/vnd.ms-excel", "\xd0\xcf\x11\xe0", ""},
		{"a.bin", "application/octet-stream", "a\x00b", ""}, {"a.bin", "application/octet-stream", "\xffab", ""},
	} {
		data := "data:" + c.stated + ";base64," + base64.StdEncoding.EncodeToString([]byte(c.data))
		out, _, refused := rendered(t, translate.Chat, translate.Messages, pieced(`{"type":"file","file":{"filename":"`+c.name+`","file_data":"`+data+`"}}`).body, "")
		if c.want == "" {
			assert.NotEmpty(t, refused, "%s %q", c.name, c.data)
			continue
		}
		require.Empty(t, refused, c.name)
		assert.Contains(t, out, `{"type":"text","media_type":"text/plain"`, c.name)
		assert.Contains(t, out, c.want)
	}
}

// The words for the type of a sound were those of one vendor: a recording of a browser was refused, and
// a media type in the place of the word.
func TestSoundsByOtherWordsReachGemini(t *testing.T) {
	for word, want := range map[string]string{"webm": "audio/webm", "mpeg": "audio/mp3", "audio/wav": "audio/wav", "X-WAV": "audio/wav", "audio/ogg; codecs=opus": "audio/ogg", "m4a": "audio/m4a"} {
		part := `{"type":"input_audio","input_audio":{"format":"` + word + `","data":"AAAA"}}`
		for from, body := range map[translate.Format]string{translate.Chat: pieced(part).body, translate.Responses: showing(part).body} {
			out, _, refused := rendered(t, from, translate.Gemini, body, "")
			require.Empty(t, refused, word)
			assert.Contains(t, out, `"mimeType":"`+want+`"`, "%s: %s", from, word)
		}
	}
}

// Chat clients name a PDF where images are, by its address as well: Claude could not read the image.
func TestADocumentByAddressInThePlaceOfAnImageIsADocument(t *testing.T) {
	for _, address := range []string{"https://x/a.pdf", "https://x/A.PDF?version=2#page=3"} {
		for from, body := range map[translate.Format]string{
			translate.Chat:      pieced(`{"type":"image_url","image_url":{"url":"` + address + `"}}`).body,
			translate.Responses: showing(`{"type":"input_image","image_url":"` + address + `"}`).body,
		} {
			out, _, refused := rendered(t, from, translate.Messages, body, "")
			require.Empty(t, refused, from)
			assert.Contains(t, out, `{"type":"document","source":{"type":"url","url":"`+address+`"}`, from)
		}
		out, _, refused := rendered(t, translate.Messages, translate.Responses, fromUser(`{"type":"image","source":{"type":"url","url":"`+address+`"}}`).body, "")
		require.Empty(t, refused)
		assert.Contains(t, out, `"file_url":"`+address+`"`)
	}
	out, _, _ := rendered(t, translate.Chat, translate.Messages, pieced(`{"type":"image_url","image_url":{"url":"https://x/a.png"}}`).body, "")
	assert.Contains(t, out, `{"type":"image","source":{"type":"url"`)
}

// The messages format has documents by their address, as responses and gemini have them: they were
// refused, so that a conversation with one could not go on with Claude.
func TestDocumentsByAddressReachMessages(t *testing.T) {
	const address = `"source":{"type":"url","url":"https://x/a.pdf"}`
	for from, body := range map[translate.Format]string{
		translate.Responses: showing(`{"type":"input_file","file_url":"https://x/a.pdf","filename":"a.pdf"}`).body,
		translate.Gemini:    ofParts(`{"fileData":{"mimeType":"application/pdf","fileUri":"https://x/a.pdf"}}`).body,
	} {
		out, losses, refused := rendered(t, from, translate.Messages, body, "")
		require.Empty(t, refused, from)
		assert.Contains(t, out, `{"type":"document",`+address, from)
		assert.NotContains(t, losses, "file", from)
		_, _, refused = rendered(t, from, translate.Messages, body, "image_url base64")
		assert.NotEmpty(t, refused, "%s: a server that fetches nothing", from)
	}
	out, _, _ := rendered(t, translate.Responses, translate.Messages,
		`{"model":"m1","input":[{"role":"user","content":"hi"},`+callItemF+`,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_file","file_url":"https://x/a.pdf"}]}]}`, "")
	assert.Contains(t, out, `"content":[{"type":"document",`+address+`}]`, "in a result")
}
