package litellm

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
)

// digest is the digest of the key sk-EXAMPLEalice.
var digest = strings.TrimPrefix(migration.Digest("sk-EXAMPLEalice"), "sha256:")

const twoModels = `
model_list:
  - model_name: gpt
    litellm_params: {model: openai/gpt-4o}
    model_info: {access_groups: [cheap]}
  - model_name: sonnet
    litellm_params: {model: anthropic/claude-sonnet-4-5}
`

// What becomes of rows: the file of keys, which the gateway can read, the limits in the
// Caddyfile, and the report.
func TestKeys(t *testing.T) {
	token := func(members string) string { return `{"token":"` + digest + `",` + members + `}` }
	for name, tt := range map[string]struct {
		tables Tables
		keys   []string
		limits []string
		report []string
	}{
		"Z002 the digest is that of the key, so that clients keep it": {
			Tables{Keys: objects(token(`"key_alias":"alice-laptop","user_id":"u"`)), Users: objects(`{"user_id":"u","user_email":"Alice@contoso.example"}`)},
			[]string{"key alice-laptop sha256:" + digest + " {\n\towner alice@contoso.example\n}"}, nil, nil,
		},
		"Z003 a key in clear text becomes its digest, and another token is left out": {
			Tables{Keys: objects(`{"token":"sk-EXAMPLEplain"}`, `{"token":"`+digest[:63]+`","key_alias":"short"}`)},
			[]string{migration.Digest("sk-EXAMPLEplain"), "!EXAMPLEplain", "!short"}, nil, []string{`the token of the key "short" is not a digest`, "!EXAMPLEplain"},
		},
		"Z004 names are those of keys, and each once": {
			Tables{Keys: objects(token(`"key_alias":"key_7"`), token(`"key_alias":"ci/nightly"`), token(`"key_alias":"leaver"`), token(`"key_alias":"leaver"`), token(`"key_alias":"名"`))},
			[]string{"# key_7\nkey imported-key_7 ", "# ci/nightly\nkey ci-nightly ", "key leaver ", "# leaver\nkey leaver-2 ", "# 名\nkey key-" + digest[:8] + " "}, nil, nil,
		},
		"Z005 a key has the models that its team has, too, and groups of models become names": {
			Tables{Keys: objects(token(`"key_alias":"a","models":["cheap","sonnet"],"team_id":"t"`)), Teams: objects(`{"team_id":"t","models":["sonnet","gpt","other"]}`)},
			[]string{"models gpt sonnet\n"}, nil, nil,
		},
		"Z006 a list that names nothing disables the key": {
			Tables{Keys: objects(token(`"key_alias":"a","models":["beta"]`))}, []string{"models beta\n\tdisabled\n"}, nil, []string{"may use beta, which the gateway does not have"},
		},
		"Z007 the models of a team without a team are all": {
			Tables{Keys: objects(token(`"key_alias":"a","models":["all-team-models"]`))}, []string{"!models", "!disabled"}, nil, []string{"may use all models"},
		},
		"Z008 a blocked team, and a user without models, disable keys": {
			Tables{
				Keys:  objects(token(`"key_alias":"a","team_id":"t"`), token(`"key_alias":"b","user_id":"u"`), token(`"key_alias":"c","user_id":"u","team_id":"s"`)),
				Teams: objects(`{"team_id":"t","blocked":true}`, `{"team_id":"s"}`), Users: objects(`{"user_id":"u","models":["no-default-models"]}`),
			},
			[]string{"key a sha256:" + digest + " {\n\tdisabled", "key b sha256:" + digest + " {\n\towner u\n\tdisabled", "key c sha256:" + digest + " {\n\towner u\n}"}, nil, nil,
		},
		"Z009 an expiry in the past stays": {
			Tables{Keys: objects(token(`"key_alias":"a","expires":"2025-01-01T00:00:00"`))}, []string{"expires 2025-01-01T00:00:00Z"}, nil, nil,
		},
		"an expiry with a zone stays, and one that cannot be read disables": { // both keys once had none
			Tables{Keys: objects(token(`"key_alias":"a","expires":"2027-01-01 02:00:00+02"`), strings.Replace(token(`"key_alias":"b","expires":"soon"`), digest, strings.Repeat("0", 64), 1), strings.Replace(token(`"key_alias":"c","expires":"infinity"`), digest, strings.Repeat("1", 64), 1))},
			[]string{"expires 2027-01-01T00:00:00Z", "key b sha256:" + strings.Repeat("0", 64) + " {\n\tdisabled", "key c sha256:" + strings.Repeat("1", 64)}, nil,
			[]string{"the key b is disabled: its end is no time that can be read"},
		},
		"Z010 budgets have the periods of calendars where LiteLLM has them": {
			Tables{Keys: objects(token(`"key_alias":"a","max_budget":20,"budget_duration":"30d","rpm_limit":60,"tpm_limit":200000,"max_parallel_requests":4`), strings.Replace(token(`"key_alias":"b","max_budget":2.5,"budget_duration":"2d"`), digest, strings.Repeat("0", 64), 1), strings.Replace(token(`"key_alias":"c","max_budget":5`), digest, strings.Repeat("1", 64), 1))},
			[]string{"limit key-a", "limit key-b"},
			[]string{"limit key-a {\n\t\t\tper key\n\t\t\trequests 60/1m\n\t\t\ttokens 200000/1m\n\t\t\tconcurrent 4\n\t\t\tbudget 20/month\n\t\t}", "budget 2.5/2d", "budget 5/total"},
			[]string{"the budget holds for any 2d"},
		},
		"Z011 zero disables a key": {
			Tables{Keys: objects(token(`"key_alias":"a","max_budget":0`))}, []string{"disabled"}, []string{"!limit key"}, nil,
		},
		"Z012 a soft budget beside a hard one is a limit around it": {
			Tables{Keys: objects(token(`"key_alias":"a","budget_id":"b"`)), Budgets: objects(`{"budget_id":"b","max_budget":10,"soft_budget":8,"budget_duration":"1d"}`)},
			[]string{"limit key-a-2"}, []string{"limit key-a {\n\t\t\tper key\n\t\t\tbudget 8/day soft\n\t\t}", "limit key-a-2 {\n\t\t\tper key\n\t\t\twithin key-a\n\t\t\tbudget 10/day\n\t\t}"}, nil,
		},
		"Z013 bounds of models are named": {
			Tables{Keys: objects(token(`"key_alias":"a","model_max_budget":{"gpt":{"budget_limit":1}}`))}, nil, []string{"!limit"}, []string{"limits do not distinguish models"},
		},
		"Z014 a key of a team is within the member, the team and the organization, not within the user": {
			Tables{
				Keys: objects(token(`"key_alias":"a","user_id":"u","team_id":"t"`)), Users: objects(`{"user_id":"u","max_budget":50}`),
				Teams: objects(`{"team_id":"t","team_alias":"research","organization_id":"o","max_budget":500,"budget_duration":"1mo"}`), Organizations: objects(`{"organization_id":"o","organization_alias":"all","budget_id":"ob"}`),
				Memberships: objects(`{"user_id":"u","team_id":"t","budget_id":"mb"}`), Budgets: objects(`{"budget_id":"ob","max_budget":2000,"budget_duration":"30d"}`, `{"budget_id":"mb","max_budget":25,"budget_duration":"7d"}`),
			},
			[]string{"limit member-u-research"},
			[]string{
				"limit organization-all {\n\t\t\tper group\n\t\t\tbudget 2000/month\n\t\t}", "limit team-research {\n\t\t\tper group\n\t\t\twithin organization-all\n\t\t\tbudget 500/month\n\t\t}",
				"limit member-u-research {\n\t\t\tper user\n\t\t\twithin team-research\n\t\t\tbudget 25/week\n\t\t}", "!budget 50/",
			}, nil,
		},
		"Z017 sessions of LiteLLM's pages and the master key are skipped": {
			Tables{Keys: objects(token(`"key_alias":"ui","team_id":"litellm-dashboard"`), `{"token":"`+strings.TrimPrefix(migration.Digest("sk-master"), "sha256:")+`","key_alias":"m"}`)},
			[]string{"!key"}, nil, []string{"2 rows skipped"},
		},
		"Z018 a key before its rotation expires": {
			Tables{Keys: objects(token(`"key_alias":"a","models":["gpt"]`)), Deprecated: objects(`{"token":"` + strings.Repeat("a", 64) + `","active_token_id":"` + digest + `","revoke_at":"2026-12-01T00:00:00"}`)},
			[]string{"key a-before sha256:" + strings.Repeat("a", 64) + " {\n\tmodels gpt\n\texpires 2026-12-01T00:00:00Z\n}"}, nil, nil,
		},
		"Z020 models of the database are named": {
			Tables{Keys: objects(token(`"key_alias":"a"`)), Models: objects(`{"model_name":"m"}`)}, []string{"key a"}, nil, []string{"LiteLLM_ProxyModelTable: 1 model of the database"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, text, report := imported(t, twoModels+"general_settings: {master_key: sk-master}\n", &tt.tables)
			file := migration.KeysFile(g.Keys)
			var read keys.ConfigKeys
			require.NoError(t, read.UnmarshalCaddyfile(caddyfile.NewTestDispenser(file)), file)
			assert.Len(t, read.Keys, len(g.Keys))
			contains(t, file, tt.keys)
			contains(t, text, tt.limits)
			contains(t, report, tt.report)
		})
	}
}
