package access_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestTheLastHourHasCallsFailuresAndAddresses(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "provider hourly vllm {\nto "+p.Address()+" 127.0.0.1:9\nmodels a\nlb_policy first\n}")
	created := askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"carol","role":"admin","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	carol := logInAs(s, "site", "carol")
	p.Always(gatewaytest.Status(http.StatusInternalServerError))
	answer := s.Ask("/v1/chat/completions", `{"model":"a","messages":[{"role":"user","content":"x"}]}`, "Authorization", "Bearer "+site.ClientKey)
	require.Equal(t, http.StatusInternalServerError, answer.Status)
	s.Record(answer.ID()) // calls are counted after the answer: before that, this test sometimes found none
	got := read[struct {
		Providers []struct {
			Name          string
			Calls, Failed []int
		}
		Ledger    *struct{ Pending *int }
		Addresses []struct {
			Provider, Address string
			Available         bool
		}
	}](t, carol.ask(http.MethodGet, "/api/v1/health", ""))
	require.Len(t, got.Providers, 1)
	assert.Equal(t, "hourly", got.Providers[0].Name)
	assert.Equal(t, []int{1}, got.Providers[0].Calls)
	assert.Equal(t, []int{1}, got.Providers[0].Failed)
	require.NotNil(t, got.Ledger)
	assert.NotNil(t, got.Ledger.Pending)
	require.Len(t, got.Addresses, 2)
	assert.Equal(t, p.Address(), got.Addresses[0].Address)
	assert.True(t, got.Addresses[0].Available)
}

// A page asks who is logged in before anyone is: that is no error. An answer names the
// configuration that made it, so that a page sees a reload.
func TestThePresentSessionAndTheConfigurationOfAnAnswer(t *testing.T) {
	_, carol, _ := startShown(t)
	assert.Equal(t, "carol", read[struct{ User *struct{ Username string } }](t, carol.ask(http.MethodGet, "/api/v1/session", "")).User.Username)
	carol.token = "none"
	nobody := carol.ask(http.MethodGet, "/api/v1/session", "")
	assert.Nil(t, read[struct{ User *struct{ Username string } }](t, nobody).User)
	assert.NotEmpty(t, nobody.Header.Get("X-Gateway-Configured"))
}
