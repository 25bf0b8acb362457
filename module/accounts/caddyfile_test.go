package accounts

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCaddyfile(t *testing.T) {
	for input, want := range map[string]string{
		"accounts":      `{}`,
		"accounts {\n}": `{}`,
		"accounts {\n\tsession 7d\n\tlogin_status compat\n\tregistration on\n\tthrottle off\n\tlimit of-users\n\tconsole off\n\tcapture off\n}": `{"console_off":true,"capture_off":true,"session":604800000000000,"login_status":"compat","registration":true,"throttle_off":true,"key_limit":"of-users"}`,
		"accounts {\n\tlogin_status strict\n\tregistration off\n\tthrottle on\n\tconsole on\n\tcapture on\n}":                                   `{"login_status":"strict"}`,
	} {
		var a Accounts
		require.NoError(t, a.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input)), input)
		got, err := json.Marshal(a)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), input)
	}
}

func TestCaddyfileErrorsNameTheLine(t *testing.T) {
	for input, want := range map[string]string{
		"accounts on":                                 "accounts is either off or has a block, not on",
		"accounts {\n\tsession\n}":                    "session needs one value",
		"accounts {\n\tsession 1d 2d\n}":              "session needs one value",
		"accounts {\n\tsession soon\n}":               "session must be a duration such as 24h or 7d, not 'soon'",
		"accounts {\n\tsession 0s\n}":                 "session must be at least one minute",
		"accounts {\n\tsession 1d\n\tsession 2d\n}":   "session is given twice",
		"accounts {\n\tlogin_status loud\n}":          "login_status must be strict or compat, not 'loud'",
		"accounts {\n\tregistration yes\n}":           "registration must be on or off, not 'yes'",
		"accounts {\n\tthrottle 5\n}":                 "throttle must be on or off, not '5'",
		"accounts {\n\tlimit of-all!\n}":              "the name of a limit is 1 to 64 letters",
		"accounts {\n\tsessions 7d\n}":                "unrecognized word in accounts: 'sessions'; did you mean 'session'? known are: agents, audit, audit_keep, capture, console, limit, login_status, oidc, password, proxy, registration, session, throttle",
		"accounts {\n\tthrottle off {\n\t\tx\n\t}\n}": "",
	} {
		var a Accounts
		err := a.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
		require.Error(t, err, input)
		assert.ErrorContains(t, err, want, input)
		assert.Regexp(t, `at Testfile:[123]$`, err.Error(), input)
	}
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	for input, want := range map[string]string{
		`{"session":59000000000}`:   "session must be at least one minute",
		`{"session":-1}`:            "session must be at least one minute",
		`{"login_status":"silent"}`: "login_status must be strict or compat",
	} {
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		_, err := ctx.LoadModuleByID("ai_gateway.accounts", json.RawMessage(input))
		assert.ErrorContains(t, err, want, input)
		cancel()
	}
}

func TestLoginLastsSevenDaysByDefault(t *testing.T) {
	s := loginSite(t, nil)
	data := s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).data(t)
	assert.InDelta(t, time.Now().Add(7*24*time.Hour).Unix(), data["access_expires_at"], 60)
}
