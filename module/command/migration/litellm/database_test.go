package litellm

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/rows"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// A part of LiteLLM's schema, with the types of its columns.
const schema = `
CREATE TABLE "LiteLLM_BudgetTable" (budget_id TEXT PRIMARY KEY, max_budget DOUBLE PRECISION, soft_budget DOUBLE PRECISION, budget_duration TEXT);
CREATE TABLE "LiteLLM_TeamTable" (team_id TEXT PRIMARY KEY, team_alias TEXT, models TEXT[] DEFAULT '{}', rpm_limit BIGINT, blocked BOOLEAN NOT NULL DEFAULT false);
CREATE TABLE "LiteLLM_UserTable" (user_id TEXT PRIMARY KEY, user_email TEXT, models TEXT[] DEFAULT '{}', max_budget DOUBLE PRECISION);
CREATE TABLE "LiteLLM_VerificationToken" (token TEXT PRIMARY KEY, key_alias TEXT, spend DOUBLE PRECISION NOT NULL DEFAULT 0, expires TIMESTAMP(3),
	models TEXT[] DEFAULT '{}', aliases JSONB NOT NULL DEFAULT '{}', user_id TEXT, team_id TEXT, blocked BOOLEAN, max_budget DOUBLE PRECISION, budget_duration TEXT, budget_id TEXT);
INSERT INTO "LiteLLM_BudgetTable" VALUES ('b', 10, NULL, '1d');
INSERT INTO "LiteLLM_TeamTable" VALUES ('t', 'research', '{gpt,sonnet}', 600, false);
INSERT INTO "LiteLLM_UserTable" VALUES ('u', 'alice@contoso.example', '{}', NULL);`

func TestRowsOfADatabaseBecomeKeys(t *testing.T) {
	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	dsn := cluster.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.PgConn().Exec(t.Context(), schema+`
		INSERT INTO "LiteLLM_VerificationToken" (token, key_alias, expires, models, user_id, team_id, budget_id, spend)
		VALUES ('`+digest+`', 'alice-laptop', '2027-06-30 12:00:00', '{cheap}', 'u', 't', 'b', 4.75)`).ReadAll()
	require.NoError(t, err)

	all, err := rows.Query(t.Context(), dsn, TableNames()...)
	require.NoError(t, err)
	tables, err := TablesOf(all)
	require.NoError(t, err)
	g, text, report := imported(t, twoModels, tables)
	assert.Equal(t, `key alice-laptop sha256:`+digest+` {
	owner alice@contoso.example
	models gpt
	expires 2027-06-30T12:00:00Z
	limit key-alice-laptop
}
`, migration.KeysFile(g.Keys))
	assert.Contains(t, text, "limit team-research {\n\t\t\tper group\n\t\t\trequests 600/1m\n\t\t}\n\t\tlimit key-alice-laptop {\n\t\t\tper key\n\t\t\twithin team-research\n\t\t\tbudget 10/day\n\t\t}")
	assert.Contains(t, report, "1 budget had spent something")
}

func TestZ019AnErrorOfTheDatabaseHasNoPartOfItsDSN(t *testing.T) {
	for _, dsn := range []string{"postgres://gateway:pw-canary@127.0.0.1:9/litellm", "pw-canary"} {
		_, err := rows.Query(t.Context(), dsn, TableNames()...)
		require.ErrorContains(t, err, "connecting to the database")
		assert.NotContains(t, err.Error(), "canary")
	}
	_, err := TablesOf(rows.Tables{})
	assert.EqualError(t, err, "the database has no table LiteLLM_VerificationToken")
}
