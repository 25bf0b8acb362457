package relay_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestAPanicIsAnErrorOfTheOneRequest(t *testing.T) {
	s := site.Start(t, "provider panicking")
	want := site.ErrorAnswer{Status: 500, Kind: "server_error", MessagesKind: "api_error", Message: "internal error"}
	for _, path := range site.ClientPaths {
		for _, streaming := range []bool{false, true} {
			answer := s.Ask(path, site.BodyFor(path, "now", "hello", streaming))
			want.Assert(t, path, answer)
			assert.Equal(t, "failed", s.Record(answer.ID())["outcome"])
		}
		answer := s.Ask(path, site.BodyFor(path, "later", "hello", true))
		seen := answer.Read(t, path)
		assert.False(t, seen.Complete)
		if assert.NotNil(t, seen.Failure) {
			assert.Equal(t, "internal error", seen.Failure.Message)
		}
		assert.Equal(t, "cut", s.Record(answer.ID())["outcome"])
		assert.NotContains(t, answer.Body, site.PanicText)
	}
	assert.Contains(t, s.Logs.String(), `"msg":"panic"`, "the operator is told")
	models := s.Get(s.URL("site", "/v1/models"))
	assert.Equal(t, http.StatusUnauthorized, models.StatusCode, "the process lives")
	_ = models.Body.Close()
}
