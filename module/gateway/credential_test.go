package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sentences are all that is said about credentials.
var sentences = []string{
	"no credential: send 'Authorization: Bearer <key>'",
	"no credential: send 'Authorization: Bearer <key>' or 'x-api-key: <key>'",
	"the API key is not valid",
	"authorization: must be sent once, with one value",
	"x-api-key: must be sent once, with one value",
}

func FuzzCredential(f *testing.F) {
	for _, seed := range [][3]string{
		{"Bearer sk-1", "", "/v1/messages"}, {"bearer  sk-1\t", "sk-2", "/v1/chat/completions"}, {"Basic eDp5", "sk-2", "/v1/models"},
		{"Bearer", "", "/v1/messages"}, {"Bearer a,b", "", "/v1/messages"}, {"", " sk-2 ", "/v1/messages/count_tokens"},
		{"Bearer \x00", "\x7f", "/v1/messages"}, {"Bearer é", "", "/v1/models/x"}, {strings.Repeat("Bearer ", 99), "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, authorization, apiKey, path string) {
		r := &http.Request{URL: &url.URL{Path: path}, Header: http.Header{
			"Authorization": {authorization}, "X-Api-Key": {apiKey}, "Anthropic-Version": {"2023-06-01"},
		}}
		e, _ := route(r)
		credential, fault := credentialOf(r, keyHeader(r, e))
		assert.Equal(t, fault == nil, credential != "", "a credential or a fault")
		assert.LessOrEqual(t, len(credential), maxCredential)
		for _, c := range []byte(credential) {
			assert.True(t, c > ' ' && c < 0x7f, "%q", credential)
		}
		if credential != "" {
			assert.True(t, strings.Contains(authorization, credential) || strings.Contains(apiKey, credential))
		}
		if fault != nil {
			assert.Contains(t, sentences, fault.Message, "what a stranger sent is never repeated")
		}
	})
}
