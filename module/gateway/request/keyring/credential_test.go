package keyring

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sentences are all messages about credentials.
var sentences = []string{
	"no credential: send 'Authorization: Bearer <key>'",
	"no credential: send 'Authorization: Bearer <key>' or 'x-api-key: <key>'",
	"the API key is not valid",
	"authorization: must be sent once, with one value",
	"x-api-key: must be sent once, with one value",
}

func FuzzCredential(f *testing.F) {
	for _, seed := range [][3]string{
		{"Bearer sk-1", "", "X-Api-Key"}, {"bearer  sk-1\t", "sk-2", ""}, {"Basic eDp5", "sk-2", "X-Api-Key"},
		{"Bearer", "", "X-Api-Key"}, {"Bearer a,b", "", "X-Api-Key"}, {"", " sk-2 ", "X-Api-Key"},
		{"Bearer \x00", "\x7f", "X-Api-Key"}, {"Bearer é", "", ""}, {strings.Repeat("Bearer ", 99), "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2] != "")
	}
	f.Fuzz(func(t *testing.T, authorization, apiKey string, hasOther bool) {
		r := &http.Request{Header: http.Header{"Authorization": {authorization}, "X-Api-Key": {apiKey}}}
		other := ""
		if hasOther {
			other = "X-Api-Key"
		}
		credential, fault := Sources(nil).Credential(r, other, "")
		assert.Equal(t, fault == nil, credential != "", "a credential or a fault")
		assert.LessOrEqual(t, len(credential), maxKey)
		for _, c := range []byte(credential) {
			assert.True(t, c > ' ' && c < 0x7f, "%q", credential)
		}
		if credential != "" {
			assert.True(t, strings.Contains(authorization, credential) || strings.Contains(apiKey, credential))
		}
		if fault != nil {
			assert.Contains(t, sentences, fault.Message, "a message never repeats the input")
		}
	})
}
