package request

import (
	"bytes"
	"cmp"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// everyLine takes each line for a request.
type everyLine struct{}

func (everyLine) Line(line []byte) ([]byte, *fault.Fault) { return line, nil }
func (everyLine) End() *exchange.Requests                 { return new(exchange.Requests) }

// The error of a form that is cut off wraps io.EOF. Taken for the end of the file, it let the provider
// store what had arrived as if it were whole.
func TestAFormThatIsCutOffNeverEnds(t *testing.T) {
	form := &format.Form{File: "file", Texts: []string{"purpose"}, Requests: &format.FileOfRequests{Text: "purpose", Value: "batch"}}
	var whole bytes.Buffer
	w := multipart.NewWriter(&whole)
	require.NoError(t, w.WriteField("purpose", "batch"))
	part, err := w.CreateFormFile("file", "a.jsonl")
	require.NoError(t, err)
	_, _ = io.WriteString(part, "{\"a\":1}\n{\"a\":2}\n")
	require.NoError(t, w.Close())
	for _, reads := range []bool{false, true} {
		read := func(length int) error {
			r := httptest.NewRequest(http.MethodPost, "/v1/files", bytes.NewReader(whole.Bytes()[:length]))
			r.Header.Set("Content-Type", w.FormDataContentType())
			u, refused := NewUpload(r, form, 1<<20)
			require.Nil(t, refused)
			if reads {
				u.ReadLines(everyLine{}, 1<<10)
			}
			var passed bytes.Buffer
			_, err := io.Copy(&passed, u)
			if err == nil { // a name without quotes is valid, and unknown to simple readers of forms
				assert.Contains(t, passed.String(), `form-data; name="purpose"`)
			}
			return err
		}
		const lineEnd = 2 // which may follow the last delimiter
		for length := range whole.Len() - lineEnd {
			var refused *fault.Fault
			assert.ErrorAs(t, read(length), &refused, "%d of %d bytes", length, whole.Len())
		}
		assert.NoError(t, read(whole.Len()))
	}
}

// A name was written anew with each backslash and each quote escaped. Browsers escape none of them, and the
// services behind do not agree on what an escape is: a file got another name than its client had given it.
func TestTheNameOfAFileIsAsItsClientHasWrittenIt(t *testing.T) {
	for disposition, want := range map[string]string{
		`form-data; name="file"; filename="C:\dir\a.txt"`:                          "",
		`form-data; name="file"; filename="a\\b.txt"`:                              "",
		`form-data; name="file"; filename="say \"hi\".txt"`:                        "",
		`form-data; name="file"; filename="say %22hi%22 100%.txt"`:                 "",
		`form-data; name="file"; filename="dir/ü 😀;x.txt"`:                         "",
		`form-data; name="file"; filename="a.txt"; filename*=UTF-8''%C3%BC%5C.txt`: "",
		`form-data; name="file"; filename*=utf-8''%C3%BC.txt`:                      "",
		`form-data; filename=a.txt; name=file`:                                     "",
		`Form-Data;name="file";filename="a" ;`:                                     `form-data;name="file";filename="a"`,
		`form-data; name="file"; filename="a\"; name=\"purpose"`:                   "refused",
		`form-data; name="file"; filename="a\";"`:                                  "refused",
		`form-data; name="purpose"; name*=utf-8''file; filename="a"`:               "refused",
		`form-data; name="file"; filename="a"; x="y"`:                              "refused",
		"form-data; name=\"file\"; filename=\"a\tb\"":                              "refused",
		"form-data; name=\"file\"; filename=\"a\x01\"":                             "refused",
		`form-data; name="file"; filename="a\"`:                                    "refused",
	} {
		for _, reads := range []bool{false, true} {
			body := "--b\r\nContent-Disposition: " + disposition + "\r\nContent-Type: text/plain\r\n\r\n{}\r\n--b--"
			r := httptest.NewRequest(http.MethodPost, "/v1/files", strings.NewReader(body))
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			u, refused := NewUpload(r, &format.Form{File: "file"}, 1<<20)
			require.Nil(t, refused)
			if reads {
				u.ReadLines(everyLine{}, 1<<10)
			}
			passed, err := io.ReadAll(u)
			if want == "refused" {
				require.ErrorAs(t, err, &refused, disposition)
				if strings.Contains(disposition, "\t") { // the message named other characters alone
					assert.Contains(t, refused.Message, "without control characters")
				}
				continue
			}
			require.NoError(t, err, disposition)
			assert.Contains(t, string(passed), "\r\nContent-Disposition: "+cmp.Or(want, disposition)+"\r\n")
		}
	}
}
