package agents

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestSettingsFollowGroupsAndTeams(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	p := signedIn(t, func(a *Agents) {
		a.Settings = []*Settings{
			{File: file("a.json", `{"model":"a"}`), Groups: []string{"research"}},
			{File: file("b.json", "{\n\t\"z\": 1.0, \"env\": {\"b\": \"<é>\", \"a\": null}}\n"), Groups: []string{"dev", "ops"}},
		}
	})
	ask := func(token, known string) *httptest.ResponseRecorder {
		return p.send("GET", settingsPath, nil, http.Header{"Authorization": {"Bearer " + token}, "If-None-Match": {known}})
	}
	assert.Equal(t, http.StatusNotFound, ask(p.access, "").Code)
	link := aigateway.Identity{Issuer: "https://login.example.com", Subject: "7", UserID: p.alice.ID, Groups: []string{"ops"}}
	identities := p.people.Store.(aigateway.IdentityStore)
	require.NoError(t, identities.LinkIdentity(t.Context(), link, 1))
	_, err := identities.SignIn(t.Context(), link, nil, func(*aigateway.User) error { return nil })
	require.NoError(t, err)
	got := ask(p.access, "")
	// The client computes the sum of what it has, with sorted keys and without spaces.
	const sum = "sha256:d6ca56fca516a9869f170e2299efebb8a1bcb015f38747ad4a95bcf21173a69f"
	assert.JSONEq(t, `{"uuid":"`+sum+`","checksum":"`+sum+`","settings":{"env":{"a":null,"b":"<é>"},"z":1}}`, got.Body.String())
	assert.Equal(t, `"`+sum+`"`, got.Header().Get("ETag"))
	assert.Equal(t, http.StatusNotModified, ask(p.access, `"`+sum+`"`).Code)
	require.NoError(t, p.people.Store.Teams().Create(t.Context(), &aigateway.Team{Name: "research"}))
	require.NoError(t, p.people.Store.Teams().SetMember(t.Context(), "research", p.alice.ID, false, 9))
	assert.Contains(t, ask(p.access, "").Body.String(), `"settings":{"model":"a"}`, "the first that matches")
	// The settings once ignored the networks of a key.
	elsewhere := func(k *aigateway.StoredKey) error {
		k.Bounds.Networks = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		return nil
	}
	_, err = p.people.Store.ChangeKey(t.Context(), p.alice.ID, p.keys()[0].ID, elsewhere)
	require.NoError(t, err)
	outside := ask(p.access, "")
	assert.Equal(t, http.StatusForbidden, outside.Code)
	assert.Contains(t, outside.Body.String(), `"type":"permission_error"`)
	for _, wrong := range []string{"", "sk-x", p.refresh} {
		refused := ask(wrong, "")
		assert.Equal(t, []any{http.StatusUnauthorized, "false"}, []any{refused.Code, refused.Header().Get("X-Should-Retry")})
		assert.Contains(t, refused.Body.String(), `"type":"authentication_error"`)
	}
}

// Claude Code counted the costs of all models but those of Claude at the price of an unknown one.
func TestSettingsHaveThePricesOfModels(t *testing.T) {
	dir := t.TempDir()
	file := func(content string) *Settings {
		s := &Settings{File: filepath.Join(dir, "s.json")}
		require.NoError(t, os.WriteFile(s.File, []byte(content), 0o600))
		return s
	}
	prices := []aigateway.ModelPrice{
		{Model: "claude-sonnet-5", Upstream: "claude-sonnet-5", Builtin: true, Input: 3, Output: 15},
		{Model: "claude-opus-5", Upstream: "claude-opus-5", Input: 4.5, Output: 22.5, CacheRead: 0.45, CacheWrite: 5.625},
		{Model: "fast", Upstream: "claude-haiku-4-5", Builtin: true, Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25},
		{Model: "free", Upstream: "qwen"},
		{Model: "image", Upstream: "image", Input: 1, Output: highestRate + 1},
		{Model: "secret", Upstream: "secret", Input: 1},
	}
	const priced = `"modelPricing":{"overrides":{"claude-opus-5":{"cacheRead":0.45,"cacheWrite":5.625,"input":4.5,"output":22.5},` +
		`"fast":{"cacheRead":0.1,"cacheWrite":1.25,"input":1,"output":5},"free":{"cacheRead":0,"cacheWrite":0,"input":0,"output":0}}}`
	for content, want := range map[string]string{
		`{"model":"fast"}`:                    `{"model":"fast",` + priced + `}`,
		`{}`:                                  `{` + priced + `}`,
		`{"modelPricing":{}}`:                 `{"modelPricing":{}}`,
		`{"modelPricing":{"multiplier":0.9}}`: `{"modelPricing":{"multiplier":0.9}}`,
	} {
		p := signedIn(t, func(a *Agents) { a.Settings = []*Settings{file(content)} })
		p.UsePrices(func(allowed func(string) bool) []aigateway.ModelPrice {
			return slices.DeleteFunc(slices.Clone(prices), func(of aigateway.ModelPrice) bool { return !allowed(of.Model) })
		})
		_, err := p.people.Store.ChangeKey(t.Context(), p.alice.ID, p.keys()[0].ID, func(k *aigateway.StoredKey) error {
			k.Bounds.Models = []string{"claude-*", "f*", "image"}
			return nil
		})
		require.NoError(t, err)
		ask := func(known string) *httptest.ResponseRecorder {
			return p.send("GET", settingsPath, nil, http.Header{"Authorization": {"Bearer " + p.access}, "If-None-Match": {known}})
		}
		got := ask("")
		sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(want))) // of sorted keys, as the client computes it
		assert.Equal(t, `{"uuid":"`+sum+`","checksum":"`+sum+`","settings":`+want+`}`, got.Body.String())
		assert.Equal(t, http.StatusNotModified, ask(got.Header().Get("ETag")).Code)
	}
}

// The error for null, and for a word behind the object, ended with "%!w(<nil>)", and of members with one
// name the last counted.
func TestSettingsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{
		"": "one JSON object: ", "[]": "one JSON object: it has the kind array", "{} {}": "one JSON object: ", "{} x": "one JSON object: ",
		"null": "one JSON object: it has the kind null", `{"a":1,"a":2}`: "duplicate object member at byte 7",
		`{"a":[{"b":{"c":1,"d":2,"\u0063":3}}]}`: "duplicate object member at byte 24",
	} {
		path := filepath.Join(dir, "s.json")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		err := (&Settings{File: path}).provision()
		require.ErrorContains(t, err, want, content)
		assert.NotContains(t, err.Error(), "%!", content)
	}
	require.ErrorContains(t, (&Settings{File: filepath.Join(dir, "none.json")}).provision(), "no such file")
	require.ErrorContains(t, (&Settings{}).provision(), "settings need a file")
}
