package access_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startAuthenticated runs a site behind Caddy's forward_auth. The authentication service lets
// everybody in, and names the person of the cookie "login" alone. extra are lines of forward_auth.
func startAuthenticated(t *testing.T, extra string) *site.Site {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch login, err := r.Cookie("login"); {
		case err != nil:
		case login.Value == "stranger":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Header().Set("Remote-User", login.Value)
			w.Header().Set("Remote-Groups", "dev,ai-admins")
		}
	}))
	t.Cleanup(service.Close)
	s := site.StartCaddyfile(t, site.Block(
		"@pages path /console/* /api/*\nforward_auth @pages "+service.Listener.Addr().String()+" {\nuri /verify\n"+extra+"\n}",
		site.DemoProvider, `accounts {
			proxy {http.reverse_proxy.header.Remote-User} {
				groups {http.reverse_proxy.header.Remote-Groups}
				role admin ai-admins
				create user
			}
		}`))
	return s
}

// signIn signs in as the person of a cookie, and returns where the browser goes, and the session.
func signIn(s *site.Site, login, path string, header ...string) (location, session string) {
	s.T.Helper()
	if login != "" {
		header = append(header, "Cookie", "login="+login)
	}
	got := s.Call(http.MethodGet, s.URL("site", path), "", header...)
	for _, line := range got.Header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		require.NoError(s.T, err)
		session = cookie.Value
	}
	return got.Header.Get("Location"), session
}

// TestX130OnlyTheProxyNamesAPerson: gateways that trusted a header of the request let everybody
// be root who could reach them, or whose header the proxy forwarded.
func TestX130OnlyTheProxyNamesAPerson(t *testing.T) {
	const path, home, refused = "/api/v1/signin/proxy", "../../../console/", "../../../console/?signin=refused" // relative to the path
	for name, extra := range map[string]string{"": "", "with copied headers": "copy_headers Remote-User Remote-Groups"} {
		t.Run(name, func(t *testing.T) {
			s := startAuthenticated(t, extra)
			s.AddUser("root")
			location, session := signIn(s, "alice", path, "Remote-User", "root", "Remote-Groups", "ai-root")
			require.Equal(t, home, location)
			self := s.Call(http.MethodGet, s.URL("site", "/api/user/self"), "", "Cookie", "login=alice; session="+session)
			require.Equal(t, http.StatusOK, self.Status, self.Body)
			assert.Equal(t, []string{"alice", "10"}, []string{dataField(t, self, "username"), dataField(t, self, "role")})
			for _, header := range [][]string{
				{"Remote-User", "alice"}, {"remote-user", "alice"}, {"Remote_User", "alice"}, {"X-Remote-User", "alice"}, {"X-Forwarded-User", "alice"},
				{"http.reverse_proxy.header.Remote-User", "alice"}, {"Connection", "Remote-User"}, {"Authorization", "Basic YWxpY2U6eA=="},
			} {
				location, session := signIn(s, "", path, header...)
				assert.Equal(t, []string{refused, ""}, []string{location, session}, header)
			}
			location, _ = signIn(s, "", path+"?http.reverse_proxy.header.Remote-User=alice&Remote-User=alice")
			assert.Equal(t, refused, location)

			for _, login := range []string{"login=bob", "login=stranger", "x=y"} {
				other := s.Call(http.MethodGet, s.URL("site", "/api/user/self"), "", "Cookie", login+"; session="+session, "Remote-User", "alice")
				assert.Equal(t, http.StatusUnauthorized, other.Status, "the session of alice is over for %s", login)
			}
			got := s.Call(http.MethodGet, s.URL("site", path), "", "Cookie", "login=stranger", "Remote-User", "alice")
			assert.Equal(t, http.StatusUnauthorized, got.Status, "who does not pass the service reaches no account")
			assert.Empty(t, got.Header.Values("Set-Cookie"))
		})
	}
}

// The identity is that of the answer for this request: without forward_auth, nobody has one.
func TestWithoutForwardAuthAProxyNamesNobody(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "accounts {\nproxy {http.reverse_proxy.header.Remote-User} {\ncreate user\n}\n}")
	location, session := signIn(s, "alice", "/api/v1/signin/proxy", "Remote-User", "alice")
	assert.Equal(t, []string{"../../../console/?signin=refused", ""}, []string{location, session})
}

// The same rules hold for an identity that basic_auth has checked.
func TestTheIdentityOfBasicAuthSignsIn(t *testing.T) {
	// The hash is that of "hiccup".
	s := site.StartCaddyfile(t, site.Block("basic_auth /api/v1/signin/* {\nBob $2a$04$tYP3dV13QrGZetoHCQlISOJafEf7sLlGLEgWmVikPxTukA/bXRi6i\n}",
		site.DemoProvider, "accounts {\nproxy {http.auth.user.id} {\nname Basic\ncreate user\n}\n}"))
	location, session := signIn(s, "", "/api/v1/signin/Basic", "Authorization", "Basic Qm9iOmhpY2N1cA==")
	require.Equal(t, "../../../console/", location)
	assert.NotEmpty(t, session)
	got := s.Call(http.MethodGet, s.URL("site", "/api/v1/signin/Basic"), "", "Authorization", "Basic Qm9iOng=")
	assert.Equal(t, http.StatusUnauthorized, got.Status)
}
