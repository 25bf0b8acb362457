package accounts

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestAnAdministratorLinksAnAccount(t *testing.T) {
	s, i := signInSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	s.user("alice", aigateway.RoleUser)
	root := s.token("root")
	b := s.browser()
	require.Equal(t, failedWith("unknown"), b.signIn(i, person("0815")))
	refused := s.logs.FilterMessage("sign-in failed").All()
	require.Len(t, refused, 1)
	fields := refused[0].ContextMap()
	assert.Equal(t, []any{i.URL, "0815"}, pick(fields, "issuer", "subject"), "what the administrator needs")

	const path = "/api/v1/users/alice/identities"
	body := fmt.Sprintf(`{"issuer":"%s","subject":"0815"}`, i.URL)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST " + path, body: body, token: root}).status)
	assert.Equal(t, http.StatusConflict, s.ask(testRequest{call: "POST /api/v1/users/root/identities", body: body, token: root}).status, "one user only")
	assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "POST " + path, body: `{"issuer":"https://other.example","subject":"0815"}`, token: root}).status)
	assert.Equal(t, home, b.signIn(i, person("0815")))
	assert.Equal(t, "alice", b.self()["username"])

	assert.Equal(t, http.StatusNoContent, s.ask(testRequest{call: "DELETE " + path, token: root}).status)
	assert.Nil(t, b.self(), "the sessions end")
	assert.Equal(t, failedWith("unknown"), b.signIn(i, person("0815")))
	for n := range maxIdentities + 1 {
		want := http.StatusOK
		if n == maxIdentities {
			want = http.StatusConflict
		}
		answer := s.ask(testRequest{call: "POST " + path, body: fmt.Sprintf(`{"issuer":"%s","subject":"%d"}`, i.URL, n), token: root})
		require.Equal(t, want, answer.status, answer.body)
	}
}

// Who links an identity with a user can be that user, as who sets the password can.
func TestIdentitiesAreManagedAsPasswordsAre(t *testing.T) {
	for _, c := range []struct {
		by, of  string
		allowed bool
	}{
		{"user", "user", false}, {"user", "user2", false}, {"admin", "user", true}, {"admin", "admin2", false}, {"admin", "root", false}, {"root", "root2", true},
	} {
		s := hierarchy(t)
		s.Proxy = &signin.Proxy{User: "{http.vars.user}", Name: "proxy"}
		path := "/api/v1/users/" + c.of + "/identities"
		for call, body := range map[string]string{"GET ": "", "POST ": `{"issuer":"proxy","subject":"x"}`, "DELETE ": ""} {
			status := s.ask(testRequest{call: call + path, body: body, token: s.token(c.by)}).status
			assert.Equal(t, c.allowed, status < http.StatusMultipleChoices, "%s %v", call, c)
			assert.Equal(t, c.allowed, status != http.StatusForbidden, "%s %v", call, c)
		}
	}
}

func TestTheMachineLinksAnyIdentity(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	const path = "/api/v1/users/alice/identities"
	assert.Equal(t, http.StatusOK, s.admin("POST "+path, `{"issuer":"https://login.example.com","subject":"7"}`).status)
	assert.Contains(t, s.admin("GET "+path, "").body, `"subject":"7"`)
	assert.Equal(t, http.StatusNotFound, s.admin("GET /api/v1/users/bob/identities", "").status)
	assert.Equal(t, http.StatusNoContent, s.admin("DELETE "+path, "").status)
	assert.Equal(t, `{"items":[],"next":""}`, s.admin("GET "+path, "").body)
}
