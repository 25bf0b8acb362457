package request

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
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
