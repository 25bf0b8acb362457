package litellm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

func TestZ015WhatWasSpentCountsUnlessItsPeriodIsOver(t *testing.T) {
	for _, tt := range []struct {
		reset string
		want  []migration.Opening
	}{
		{`"2999-12-01T00:00:00"`, []migration.Opening{{Key: "a", User: "u", Limit: "key-a", Amount: 4.75, Period: "month"}}},
		{`"2024-12-01T00:00:00"`, nil},
		{`null`, []migration.Opening{{Key: "a", User: "u", Limit: "key-a", Amount: 4.75, Period: "month"}}},
	} {
		g, _, _ := imported(t, twoModels, &Tables{
			Keys:  objects(`{"token":"` + digest + `","key_alias":"a","user_id":"u","spend":4.75,"max_budget":20,"budget_duration":"30d","budget_reset_at":` + tt.reset + `}`),
			Users: objects(`{"user_id":"u","spend":99}`),
		})
		assert.Equal(t, tt.want, g.Openings, tt.reset)
	}
}

// The amounts of levels are whole: the ledger subtracts what the levels within them have.
func TestZ016LevelsComeFromTheInnermost(t *testing.T) {
	g, _, _ := imported(t, twoModels, &Tables{
		Keys:          objects(`{"token":"` + digest + `","key_alias":"a","user_id":"u","team_id":"t","spend":4.75,"max_budget":20}`),
		Users:         objects(`{"user_id":"u"}`),
		Teams:         objects(`{"team_id":"t","team_alias":"research","organization_id":"o","spend":123.456789,"max_budget":500,"budget_duration":"30d"}`),
		Memberships:   objects(`{"user_id":"u","team_id":"t","budget_id":"mb","spend":6}`),
		Organizations: objects(`{"organization_id":"o","organization_alias":"all","budget_id":"ob","spend":310.5}`),
		Budgets:       objects(`{"budget_id":"ob","max_budget":2000}`, `{"budget_id":"mb","max_budget":25,"budget_duration":"7d"}`),
	})
	assert.Equal(t, []migration.Opening{
		{Key: "a", User: "u", Limit: "key-a", Amount: 4.75, Period: "total"},
		{User: "u", Limit: "member-u-research", Amount: 6, Period: "week"},
		{Limit: "team-research", Amount: 123.456789, Period: "month"},
		{Limit: "organization-all", Amount: 310.5, Period: "total"},
	}, g.Openings)
	assert.Equal(t, []string{"team-research", "member-u-research", "key-a"}, g.Within("team-research"))
}

func TestUsersComeWithTheirRoles(t *testing.T) {
	g, _, report := imported(t, twoModels, &Tables{
		Keys: objects(`{"token":"` + digest + `","key_alias":"a"}`),
		Users: objects(`{"user_id":"default_user_id"}`, `{"user_id":"1","user_email":"Root@contoso.example","user_role":"proxy_admin","user_alias":"The Root"}`,
			`{"user_id":"2","user_role":"internal_user_viewer","password":"scrypt:x"}`, `{"user_id":"3","user_email":"root@contoso.example"}`),
	})
	assert.Equal(t, []migration.User{{Name: "root@contoso.example", DisplayName: "The Root", Role: aigateway.RoleAdmin}, {Name: "2", Role: aigateway.RoleUser}}, g.Users)
	contains(t, report, []string{"2 is a user: there are no viewers", "the password of 2 has a hash of another kind", "two users are root@contoso.example: they become one", "!scrypt:x"})
}

// Amounts that the gateway does not have once made a Caddyfile that did not load.
func TestAmountsOutOfBounds(t *testing.T) {
	_, text, report := imported(t, twoModels, &Tables{Keys: objects(
		`{"token":"`+digest+`","key_alias":"a","max_budget":1e9,"rpm_limit":1e15,"tpm_limit":12.5,"budget_duration":"9999d"}`,
		`{"token":"`+strings.Repeat("1", 64)+`","key_alias":"b","max_budget":2.50000049,"budget_duration":"1d } respond x"}`)})
	contains(t, text, []string{"limit key-a {\n\t\t\tper key\n\t\t\ttokens 12/1m\n\t\t}", "budget 2.5/total", "!respond"})
	contains(t, report, []string{"max_budget is larger than any budget", "rpm_limit is larger than any limit", "the period is none that the gateway has"})
}

// FuzzHostileConfiguration: whatever a configuration and its rows contain, the Caddyfile has the
// words of the import and no others.
func FuzzHostileConfiguration(f *testing.F) {
	for _, seed := range []string{"x\n}\nevil.example {\n\trespond hacked", "{$HOME}", "{env.SECRET}", "a b\" `c\\", "<<EOF", "# c", "}", "os.environ/{$X}", "\u00a0", "/tmp/{env.X}"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		quote := func(s string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", "").Replace(s) + `"`
		}
		config := `
model_list:
  - {model_name: ` + quote(a) + `, litellm_params: {model: ` + quote("openai/"+b) + `, api_base: ` + quote("http://"+b) + `, api_key: ` + quote(a) + `, extra_headers: {X-A: ` + quote(b) + `}}, model_info: {input_cost_per_token: ` + quote(a) + `}}
  - {model_name: m, litellm_params: {model: ` + quote(a) + `, organization: ` + quote(b) + `, custom_llm_provider: openai, vertex_credentials: ` + quote(a) + `}}
router_settings: {redis_host: ` + quote(a) + `, redis_password: ` + quote(b) + `, model_group_alias: {x: m, ` + quote(b) + `: m}, fallbacks: [{m: [` + quote(a) + `]}]}
litellm_settings: {max_budget: 1, budget_duration: ` + quote(b) + `}
general_settings: {master_key: ` + quote("os.environ/"+a) + `}
`
		text := func(s string) string { return strings.ReplaceAll(quote(s), "\\\\", "") }
		g, r, err := Read([]byte(config), &Tables{Keys: objects(`{"token":"` + digest + `","key_alias":` + text(a) + `,"models":[` + text(b) + `],"team_id":"t","max_budget":1,"budget_duration":` + text(a) + `}`), Teams: objects(`{"team_id":"t","team_alias":` + text(b) + `,"max_budget":3}`)}, "ai.example.com")
		if err != nil {
			return
		}
		var report bytes.Buffer
		require.NoError(t, r.Write(&report))
		for _, written := range []string{g.Caddyfile(), migration.KeysFile(g.Keys), report.String()} {
			assert.NotContains(t, written, "{$")
			assert.NotContains(t, written, "{file.")
		}
		blocks, err := caddyfile.Parse("Caddyfile", []byte(g.Caddyfile()))
		require.NoError(t, err, g.Caddyfile())
		require.Len(t, blocks, 2, g.Caddyfile())
		assert.Equal(t, []string{"ai.example.com"}, blocks[1].GetKeysText())
		require.Len(t, blocks[0].Segments, 1)
		require.Len(t, blocks[1].Segments, 1)
		d := caddyfile.NewDispenser(blocks[0].Segments[0])
		require.True(t, d.Next())
		for d.NextBlock(0) {
			assert.Contains(t, []string{"store", "counters", "provider", "model", "limit"}, d.Val(), g.Caddyfile())
			d.RemainingArgs()
			for d.NextBlock(1) {
				d.RemainingArgs()
				for d.NextBlock(2) {
				}
			}
		}
	})
}
