package cors

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyWhatBrowsersSendIsAnOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"*": true, "https://chat.example.com": true, "http://localhost:5173": true, "http://[::1]:8080": true, "app://obsidian.md": true,
		"chrome-extension://abcdef": true, "https://chat.example.com:8443": true,

		"": false, "null": false, "chat.example.com": false, "https://": false, "https://chat.example.com/": false,
		"https://chat.example.com/path": false, "https://user@chat.example.com": false, "https://*.example.com": false,
		"https://Chat.example.com": false, "HTTPS://chat.example.com": false, "https://chat.example.com:443": false,
		"http://chat.example.com:80": false, "https://chat.example.com?a=b": false, "https://chat.example.com#a": false, "https://a b": false,
	} {
		assert.Equal(t, want, Check(origin) == nil, origin)
	}
}

func TestScriptsOfOtherOriginsAreServedAsProgramsAre(t *testing.T) {
	const site, other = "https://ai.example.com", "https://chat.example.com"
	request := func(method string, headers ...string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), method, site+"/v1/models", nil)
		r.Header.Set("Cookie", "session=s")
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	for name, c := range map[string]struct {
		allowed Origins
		request *http.Request
		vary    bool
		shared  bool
	}{
		"nobody is allowed":        {nil, request("GET", "Origin", other), false, false},
		"allowed":                  {Origins{other}, request("POST", "Origin", other, "Sec-Fetch-Site", "cross-site"), true, true},
		"allowed, a GET":           {Origins{other}, request("GET", "Origin", other, "Sec-Fetch-Site", "same-site"), true, true},
		"all are allowed":          {Origins{"*"}, request("POST", "Origin", other), true, true},
		"another one":              {Origins{other}, request("POST", "Origin", "https://evil.example"), true, false},
		"one that begins so":       {Origins{other}, request("POST", "Origin", other+".evil.example"), true, false},
		"the origin of a sandbox":  {Origins{other}, request("POST", "Origin", "null"), true, false},
		"a program":                {Origins{"*"}, request("POST"), true, false},
		"a page of the gateway":    {Origins{"*"}, request("POST", "Origin", site, "Sec-Fetch-Site", "same-origin"), true, false},
		"the same, an old browser": {Origins{"*"}, request("POST", "Origin", site), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			got := c.allowed.Share(w, c.request)
			require.NotNil(t, got)
			assert.Equal(t, c.vary, w.Header().Get("Vary") == "Origin")
			assert.Equal(t, c.shared, w.Header().Get("Access-Control-Allow-Origin") != "")
			assert.Empty(t, w.Header().Get("Access-Control-Allow-Credentials"), "cookies never count")
			assert.Equal(t, c.shared, got.Header.Get("Cookie") == "")
			assert.Equal(t, "session=s", c.request.Header.Get("Cookie"), "the access log gets the unchanged request")
		})
	}
}
