package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// noted is a backend that notes the statements of its database.
type noted struct {
	database.Backend
	statements []string
}

func (n *noted) Dialect() database.Dialect {
	d := n.Backend.Dialect()
	bind := d.Bind
	d.Bind = func(query string) string {
		n.statements = append(n.statements, bind(query))
		return n.statements[len(n.statements)-1]
	}
	return d
}

// plan returns the steps in which SQLite runs the last statement that contains a text.
func (n *noted) plan(t *testing.T, contains string) (steps []string) {
	var last string
	for _, statement := range n.statements {
		if strings.Contains(statement, contains) {
			last = statement
		}
	}
	require.NotEmpty(t, last)
	db, err := n.Connect(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, n.Disconnect(db)) }()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+last, make([]any, strings.Count(last, "?"))...)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	return steps
}

// For the usage of a key or of a user, SQLite read the sums of all keys: it had no statistics,
// and took the index by time for the better one. Each budget of a key that was restored from a
// ledger of a million requests took 15 ms of a processor. The benchmark of these queries, which
// gathered statistics first, did not show it.
func TestSumsAreReadByTheIndexThatSelectsThem(t *testing.T) {
	backend := &noted{Backend: &file{schema: records, path: filepath.Join(t.TempDir(), "ledger.db")}}
	reader := ledger.NewReader(backend, nil)
	defer func() { assert.NoError(t, reader.Close()) }()
	type names = map[accounting.Dimension]string
	key, user, team := "gateway_usage_key (api_key=? AND span=? AND at>? AND at<?)", "gateway_usage_user (holder=? AND span=? AND at>? AND at<?)", accounting.ByTag("team")
	for claim, c := range map[string]struct {
		query accounting.UsageQuery
		index string
	}{
		"a key":                {accounting.UsageQuery{Only: names{accounting.ByKey: "key_1"}}, key},
		"a key with a limit":   {accounting.UsageQuery{Only: names{accounting.ByKey: "key_1"}, Limits: []string{"daily"}, Currency: "USD"}, key},
		"a key of a user":      {accounting.UsageQuery{Only: names{accounting.ByKey: "key_1", accounting.ByUser: "alice"}}, key},
		"a user":               {accounting.UsageQuery{Only: names{accounting.ByUser: "alice"}, By: []accounting.Dimension{accounting.ByModel}}, user},
		"all users":            {accounting.UsageQuery{By: []accounting.Dimension{accounting.ByModel}}, "PRIMARY KEY (span=? AND at>? AND at<?)"},
		"the values of a tag":  {accounting.UsageQuery{By: []accounting.Dimension{team}}, "PRIMARY KEY (label=? AND span=? AND at>? AND at<?)"},
		"one value of a tag":   {accounting.UsageQuery{Label: team, Value: "search"}, "gateway_usage_label_value (label=? AND value=? AND span=? AND at>? AND at<?)"},
		"which labels are set": {accounting.UsageQuery{By: []accounting.Dimension{accounting.ByLabel}}, "PRIMARY KEY (ANY(label) AND span=? AND at>? AND at<?)"},
	} {
		c.query.From, c.query.To = time.Now().AddDate(0, 0, -40), time.Now()
		_, err := reader.Usage(t.Context(), c.query)
		require.NoError(t, err)
		searches := 0
		for _, step := range backend.plan(t, "FROM gateway_usage") {
			if strings.Contains(step, " gateway_usage") {
				assert.Contains(t, step, c.index, claim)
				searches++
			}
		}
		assert.Positive(t, searches, claim)
	}
}
