package login

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// signInServer answers one request after the other, and keeps the forms.
type signInServer struct {
	*httptest.Server
	answers []string // each a status and a body
	asked   []string
	mu      sync.Mutex
}

func newSignInServer(t *testing.T, answers ...string) (*signInServer, *signedIn) {
	s := &signInServer{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.Path+"?"+string(body))
		status, text, _ := strings.Cut(s.answers[0], " ")
		s.answers = s.answers[1:]
		w.WriteHeader(map[string]int{"200": 200, "400": 400, "401": 401, "403": 403, "404": 404, "502": 502, "503": 503}[status])
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	opened, err := openSignedIn(s.URL + "/")
	require.NoError(t, err)
	return s, opened
}

func runLogin(t *testing.T, s *signedIn, run func(*cobra.Command, *signedIn) error) (out string, err error) {
	var text, messages bytes.Buffer
	cmd := new(cobra.Command)
	cmd.SetOut(&text)
	cmd.SetErr(&messages)
	cmd.SetContext(t.Context())
	err = run(cmd, s)
	return text.String() + messages.String(), err
}

const issued = `{"access_token":"agent_1","refresh_token":"refresh_1","token_type":"Bearer","expires_in":3600,"email":"alice"}`

func TestAMachineSignsInWithACode(t *testing.T) {
	server, s := newSignInServer(t, `200 {"device_code":"d","user_code":"BBBB-CCCC","verification_uri":"http://x/device","expires_in":600,"interval":5}`,
		`400 {"error":"authorization_pending"}`, `400 {"error":"slow_down"}`, "200 "+issued)
	var pauses []time.Duration
	s.wait = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
	out, err := runLogin(t, s, signInHere)
	require.NoError(t, err)
	assert.Equal(t, "Open http://x/device and type this code: BBBB-CCCC\nSigned in as alice.\n", out)
	assert.Equal(t, []time.Duration{5 * time.Second, 5 * time.Second, 10 * time.Second}, pauses, "slow_down makes all further pauses longer")
	assert.Equal(t, "/oauth/token?device_code=d&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code", server.asked[3])
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	folder, err := os.Stat(filepath.Dir(s.path))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), folder.Mode().Perm())

	server.answers = []string{"404 {}", "200 {}"}
	out, err = runLogin(t, s, printToken)
	require.NoError(t, err)
	assert.Equal(t, "agent_1\n", out)
	_, err = runLogin(t, s, signOutHere)
	require.NoError(t, err)
	assert.Equal(t, "/oauth/revoke?token=refresh_1&token_type_hint=refresh_token", server.asked[5])
	_, err = runLogin(t, s, printToken)
	assert.ErrorIs(t, err, errNotSignedIn)
}

// has gives the machine tokens of an hour that end after d.
func (s *signedIn) has(t *testing.T, d time.Duration) {
	content, err := json.Marshal(storedTokens{"agent_0", "refresh_0", time.Now().Add(d), 3600})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(s.path), 0o700))
	require.NoError(t, os.WriteFile(s.path, content, 0o600))
}

func TestATokenThatEndsSoonIsRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		left      time.Duration
		answer    string
		out, want string
	}{
		"renewed":               {time.Minute, "200 " + issued, "agent_1\n", ""},
		"after its end":         {-time.Hour, "200 " + issued, "agent_1\n", ""},
		"the gateway is away":   {time.Minute, "503 x", "agent_0\n", ""},
		"and the token is over": {-time.Minute, "503 x", "", "answered with status 503"},
		"the sign-in has ended": {time.Minute, `401 {"error":"invalid_grant"}`, "", "the sign-in has ended"},
		"too many":              {-time.Minute, `400 {"error":"slow_down","error_description":"wait"}`, "", "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := newSignInServer(t, c.answer)
			s.has(t, c.left)
			out, err := runLogin(t, s, printToken)
			assert.Equal(t, c.out, out)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}

// A token whose sign-in had been revoked was printed until its end, although the program ran the command again
// because of a 401.
func TestATokenThatTheGatewayRefusesIsRenewed(t *testing.T) {
	const refused, renewed = `401 {"type":"error"}`, "/oauth/token?grant_type=refresh_token&refresh_token=refresh_0"
	for name, c := range map[string]struct {
		answers   []string
		asked     []string
		out, want string
	}{
		"known":                   {[]string{"404 {}", "200 {}"}, nil, "agent_0\nagent_0\n", ""},
		"refused":                 {[]string{refused, "200 " + issued, "404 {}"}, []string{renewed}, "agent_1\nagent_1\n", ""},
		"the sign-in has ended":   {[]string{refused, `401 {"error":"invalid_grant"}`}, []string{renewed}, "", "the sign-in has ended"},
		"the gateway is away":     {[]string{"503 x", "502 x"}, nil, "agent_0\nagent_0\n", ""},
		"away during the renewal": {[]string{refused, "503 x", "404 {}"}, []string{renewed}, "agent_0\nagent_0\n", ""},
		"from another network":    {[]string{"403 {}", "403 {}"}, nil, "agent_0\nagent_0\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server, s := newSignInServer(t, c.answers...)
			s.has(t, time.Hour)
			var printed strings.Builder
			var err error
			for range 2 { // a loop of a shell does not renew with each call
				var out string
				if out, err = runLogin(t, s, printToken); err != nil {
					break
				}
				printed.WriteString(out)
			}
			assert.Equal(t, c.out, printed.String())
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
			var asked []string
			for _, request := range server.asked {
				if request != "/managed/settings?" {
					asked = append(asked, request)
				}
			}
			assert.Equal(t, c.asked, asked)
		})
	}
}

func TestASignInThatFails(t *testing.T) {
	begun := `200 {"device_code":"d","user_code":"B","verification_uri":"u","interval":0,"expires_in":600}`
	for want, answers := range map[string][]string{
		"its accounts need the word agents": {"404 {}"},
		"nobody has confirmed the code":     {begun, "502 <html>", "ends"},
		"status 502":                        {begun, "502 <html>", "ends"},
		"the gateway does not answer at":    {"502 <html>"},
		"answered with status 200":          {"200 <html>"},
		"refused":                           {begun, `400 {"error":"access_denied","error_description":"refused"}`},
		"too many":                          {`400 {"error":"slow_down","error_description":"too many"}`},
	} {
		server, s := newSignInServer(t, answers...)
		s.wait = func(context.Context, time.Duration) error {
			if server.answers[0] == "ends" {
				return context.DeadlineExceeded
			}
			return nil
		}
		_, err := runLogin(t, s, signInHere)
		require.ErrorContains(t, err, want)
		if strings.Contains(strings.Join(answers, ""), "502") {
			assert.NotContains(t, err.Error(), "agents", "a proxy in front of the gateway lets nobody look at the accounts")
		}
		assert.NoFileExists(t, s.path)
	}
	for _, address := range []string{"http://ai.example.com", "ai.example.com", "https://", "https://u:p@x", "https://x?a", "ftp://localhost"} {
		_, err := openSignedIn(address)
		assert.Error(t, err, address)
	}
}

// A login ended with the first poll that failed, while the person was typing the code.
func TestASignInOutlivesARestartOfTheGateway(t *testing.T) {
	_, s := newSignInServer(t, `200 {"device_code":"d","user_code":"B","verification_uri":"u","interval":5,"expires_in":600}`,
		"502 <html>", `503 {"error":"temporarily_unavailable"}`, "200 "+issued)
	reached := s.client.Transport
	var pauses []time.Duration
	s.wait = func(ctx context.Context, d time.Duration) error {
		ends, _ := ctx.Deadline()
		assert.WithinDuration(t, time.Now().Add(10*time.Minute), ends, time.Minute, "the polls end with the code")
		s.client.Transport = reached
		if pauses = append(pauses, d); len(pauses) == 1 {
			s.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
		}
		return nil
	}
	out, err := runLogin(t, s, signInHere)
	require.NoError(t, err)
	assert.Contains(t, out, "Signed in as alice.")
	assert.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second}, pauses)
}

// With tokens of less than five minutes, each call renewed them.
func TestATokenOfAMinuteIsPrintedUntilAQuarterIsLeft(t *testing.T) {
	for lasts, want := range map[int64]time.Duration{60: 15 * time.Second, 300: 75 * time.Second, 3600: 5 * time.Minute} {
		assert.Equal(t, want, (&storedTokens{Lasts: lasts}).spare())
	}
	server, s := newSignInServer(t, "200 "+strings.Replace(issued, "3600", "60", 1), "404 {}", "404 {}")
	s.has(t, -time.Minute)
	for range 3 {
		out, err := runLogin(t, s, printToken)
		require.NoError(t, err)
		assert.Equal(t, "agent_1\n", out)
	}
	assert.Len(t, server.asked, 3, "a renewal, and two checks")
}

// Programs that ask for a token at once each renewed it, and one of them could store tokens that the
// gateway had replaced already.
func TestProgramsAtOnceRenewATokenOnce(t *testing.T) {
	server, s := newSignInServer(t, "200 "+issued, "404 {}", "404 {}", "404 {}")
	s.has(t, -time.Minute)
	var programs sync.WaitGroup
	for range 4 {
		programs.Go(func() {
			out, err := runLogin(t, s, printToken)
			assert.NoError(t, err)
			assert.Equal(t, "agent_1\n", out)
		})
	}
	programs.Wait()
	renewals := slices.DeleteFunc(server.asked, func(request string) bool { return request == "/managed/settings?" })
	assert.Len(t, renewals, 1)
}

// A token that another process had renewed meanwhile was reported as the end of the sign-in.
func TestTokensThatAnotherProcessHasRenewedAreUsed(t *testing.T) {
	_, s := newSignInServer(t, `401 {"error":"invalid_grant"}`)
	s.has(t, -time.Minute)
	sent := s.client.Transport
	s.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		require.NoError(t, s.store(&oauthAnswer{Access: "agent_2", Refresh: "refresh_2", Lasts: 3600}))
		return sent.RoundTrip(r)
	})
	out, err := runLogin(t, s, printToken)
	require.NoError(t, err)
	assert.Equal(t, "agent_2\n", out)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A logout at a gateway that was away deleted the file and reported success: nobody could revoke the
// tokens any more.
func TestALogoutThatFailsKeepsTheTokens(t *testing.T) {
	server, s := newSignInServer(t, `503 {"error":"temporarily_unavailable"}`, `400 {"error":"slow_down","error_description":"too many"}`, "200 {}")
	s.has(t, time.Hour)
	for _, want := range []string{"status 503", "too many"} {
		_, err := runLogin(t, s, signOutHere)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "remain in "+s.path)
		assert.FileExists(t, s.path)
	}
	_, err := runLogin(t, s, signOutHere)
	require.NoError(t, err)
	assert.NoFileExists(t, s.path)
	assert.Len(t, server.asked, 3)
}
