package passthrough

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// formOfParts returns a form of parts; each is what is behind the beginning of its disposition.
func formOfParts(parts ...string) []byte {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString("--b\r\nContent-Disposition: form-data; " + part + "\r\n")
	}
	return []byte(b.String() + "--b--\r\n")
}

// A second model as model[] went past the list of a key: some servers take both for one list.
func TestAMemberThatIsReadHasOneSpellingAndOneValue(t *testing.T) {
	valid := []string{"name=\"model\"\r\n\r\nm", "name=\"prompt\"\r\n\r\np", "name=\"n\"\r\n\r\n1", "name=\"stream\"\r\n\r\nfalse"}
	view, refused := Inspect(formOfParts(valid...), translate.EditImages)
	require.Nil(t, refused)
	assert.Equal(t, "m", view.Model)
	assert.EqualValues(t, 1, view.Answers)
	for _, member := range []string{"model", "prompt", "n", "stream"} {
		for _, name := range []string{member, strings.ToUpper(member), strings.ToUpper(member[:1]) + member[1:], member + "[]", member + "[0]", member + "[a][b]", "[" + member + "]", member + "]"} {
			for _, behind := range []bool{false, true} {
				further := "name=\"" + name + "\"\r\n\r\n1"
				parts := append([]string{further}, valid...)
				if behind {
					parts = append(slices.Clone(valid), further)
				}
				_, refused := Inspect(formOfParts(parts...), translate.EditImages)
				require.NotNil(t, refused, name)
				assert.Equal(t, member, refused.Param)
				assert.Regexp(t, `: must be (sent once|written in lower case)`, refused.Message)
			}
		}
	}
	for part, what := range map[string]string{
		"name=\"file\"; filename=\"g\"\r\n\r\nlong": "file: must be sent once",
		"name=\"File\"; filename=\"g\"\r\n\r\nlong": "file: must be written in lower case, without brackets",
		"name=\"_charset_\"\r\n\r\nutf-16":          "_charset_: must not be sent",
	} {
		_, refused := Inspect(formOfParts("name=\"model\"\r\n\r\nm", "name=\"file\"; filename=\"f\"\r\n\r\nx", part), translate.Transcribe)
		require.NotNil(t, refused, part)
		assert.Contains(t, refused.Message, what)
	}
}

// Servers read these values in several ways.
func TestWordsOfAFormHaveOneMeaning(t *testing.T) {
	for _, part := range []string{
		"name=\"n\"\r\n\r\n010", "name=\"n\"\r\n\r\n+2", "name=\"n\"\r\n\r\n 2", "name=\"n\"\r\n\r\n2\n", "name=\"n\"\r\n\r\n0x2", "name=\"n\"\r\n\r\n1_0", "name=\"n\"\r\n\r\n٣", "name=\"n\"\r\n\r\n",
		"name=\"stream\"\r\n\r\non", "name=\"stream\"\r\n\r\nTRUE", "name=\"stream\"\r\n\r\n", "name=\"stream\"\r\n\r\ntrue ", "name=\"stream\"; filename=\"f\"\r\n\r\ntrue",
		"name=\"model\"\r\n\r\nm\x00", "name=\"model\"\r\n\r\nm\r\n", "name=\"model\"\r\n\r\nm\xff", "name=\"prompt\"; filename=\"f\"\r\n\r\np",
	} {
		parts := []string{part}
		if !strings.Contains(part, "prompt") {
			parts = append(parts, "name=\"prompt\"\r\n\r\np")
		}
		if !strings.Contains(part, "model") {
			parts = append(parts, "name=\"model\"\r\n\r\nm")
		}
		_, refused := Inspect(formOfParts(parts...), translate.EditImages)
		assert.NotNil(t, refused, "%q", part)
	}
	for value, want := range booleans {
		view, refused := Inspect(formOfParts("name=\"model\"\r\n\r\nm", "name=\"prompt\"\r\n\r\np", "name=\"stream\"\r\n\r\n"+value), translate.EditImages)
		require.Nil(t, refused, value)
		assert.Equal(t, want, view.Stream, value)
	}
}

// What clients really send: curl, browsers, the SDKs, and the libraries of Java and .NET.
func TestFormsOfKnownClientsAreAccepted(t *testing.T) {
	for _, part := range []string{
		`name="file"; filename="talk.mp3"` + "\r\nContent-Type: audio/mpeg\r\n\r\nx",
		`name=file; filename=talk.mp3; filename*=utf-8''talk.mp3` + "\r\n\r\nx",
		`name="file"; filename="a \"b\".wav"` + "\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n\r\n\xff\xfe",
		`name="file"; filename="größe; 2.wav"` + "\r\nContent-Length: 1\r\nX-Any:  \t1\r\n\r\nx",
		`name="file"; filename="C:\\a.wav";` + "\r\n\r\nx\n--a\r\n-b",
	} {
		for _, model := range []string{"name=\"model\"\r\n\r\nm", "name=model\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nm", "name=\"model\"\r\ncontent-type: text/plain; charset=ISO-8859-1\r\n\r\nm"} {
			_, refused := Inspect(formOfParts(part, model, "name=\"timestamp_granularities[]\"\r\n\r\nword", "name=\"timestamp_granularities[]\"\r\n\r\nsegment"), translate.Transcribe)
			assert.Nil(t, refused, "%q", part)
		}
	}
}

// The type that a provider gets is that of the body, however the client has written it.
func TestTheTypeOfAFormIsThatOfItsBody(t *testing.T) {
	body := formOfParts("name=prompt\r\n\r\np")
	for contentType, want := range map[string]bool{
		"multipart/form-data; boundary=b": true, "Multipart/Form-Data;boundary=\"b\"": true, "multipart/form-data; boundary=b; charset=utf-16": true,
		"multipart/form-data": false, "multipart/form-data; boundary=c": false, "multipart/form-datax; boundary=b": false, "multipart/form-data; boundary=b; boundary=c": false,
		"multipart/form-data; boundary=c; boundary*=utf-8''d": false, "application/json": false,
	} {
		assert.Equal(t, want, HasType(contentType, body), contentType)
	}
	assert.Equal(t, "multipart/form-data; boundary=b", Type(body))
	assert.Equal(t, `multipart/form-data; boundary="a:b"`, Type([]byte("--a:b\r\n")))
	for _, boundary := range []string{"", "a b", `a"b`, `a\b`, "ä", "a\nb", strings.Repeat("b", 71)} {
		_, refused := Inspect([]byte(strings.ReplaceAll(string(body), "--b", "--"+boundary)), translate.EditImages)
		assert.NotNil(t, refused, boundary)
	}
}

// A guard against numbers of cards let the name of a file with one pass.
func TestTextsOfAFormAreAllThatAServerCanRead(t *testing.T) {
	body := formOfParts(`name="file"; filename="a%201.wav"; filename*=UTF-8''b%202; size=3`+"\r\nContent-Type: audio/c4; d=5\r\nX-Note: e 6\r\n\r\nsound", "name=\"f7[]\"\r\n\r\ng 8")
	_, refused := Inspect(append(formOfParts("name=model\r\n\r\nm")[:len("--b\r\nContent-Disposition: form-data; name=model\r\n\r\nm\r\n")], body...), translate.Transcribe)
	require.Nil(t, refused)
	got := slices.Collect(Texts(body))
	for _, text := range []string{"file", "a%201.wav", "a 1.wav", "b%202", "b 2", "3", "audio/c4; d=5", "e 6", "f7[]", "g 8"} {
		assert.Contains(t, got, text)
	}
	assert.NotContains(t, strings.Join(got, " "), "sound")
}
