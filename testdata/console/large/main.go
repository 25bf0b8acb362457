// Command large fills the store of a gateway that has not run yet with 200 users, 10,000 keys
// and their rows of the audit log, and the records of a million requests of the last 89 days
// for 300 models of 40 providers. A key sends its requests in sessions of some minutes, as
// programs do, and most of them on working days, for a few of the models.
//
//	large <path of gateway.db>
//
// The gateway's own code writes the tables, and the records of two requests of each key. Copies
// of these records, and of their sums, are the rest: statements that make a row of many are
// hundreds of times as fast as a transaction for each.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	_ "modernc.org/sqlite" // the driver

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

const (
	users, keys, models = 200, 10_000, 300
	originals           = 2 * keys // records, of which the ledger writes pages
	sessions, repeats   = 10, 5    // copies of an original: so often, in so many hours
	days                = 84       // and up to five more; the ledger keeps records for 90
)

func main() {
	if err := fill(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func fill(ctx context.Context, path string) error {
	if err := run(ctx, path, accounts); err != nil {
		return err
	}
	if err := writeOriginals(ctx, path); err != nil {
		return err
	}
	return run(ctx, strings.TrimSuffix(path, ".db")+"-ledger.db", records)
}

// accounts are the statements that write users and keys.
var accounts = []string{
	fmt.Sprintf(`INSERT INTO gateway_users (id, name, display_name, role, disabled, password, created, last_login)
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT 1000 + i, printf('user-%%03d', i), '', 1, 0, '', unixepoch() * 1000 - i * 3600000, 0 FROM n`, users-1),
	fmt.Sprintf(`INSERT INTO gateway_keys (id, user_id, name, folded, hint, digest, models, networks, limit_name, disabled, created, expires, used)
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
		SELECT 1000 + i, 1000 + i %% %[2]d, 'key ' || i, 'key ' || i, printf('sk-%%04d…', i), randomblob(32), '[]', '[]', 'daily', 0,
			unixepoch() * 1000 - i * 60000, 0, unixepoch() * 1000 - i * 1000 FROM n`, keys-1, users),
	fmt.Sprintf(`INSERT INTO gateway_audit (at, actor, role, address, request, action, object, changes, failed)
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
		SELECT unixepoch() * 1000 - (%[1]d - i) * 60000, 'user/root', 100, '192.0.2.1', '', 'key.create', 'key/key_' || (1000 + i), '[]', 0 FROM n`, keys-1),
	fmt.Sprintf(`UPDATE gateway_state SET last_key = %d`, 1000+keys),
}

// writeOriginals lets the ledger write records.
func writeOriginals(ctx context.Context, path string) error {
	caddyCtx, cancel := caddy.NewContext(caddy.Context{Context: ctx})
	defer cancel()
	s := &sqlite.SQLite{Path: path}
	if err := s.Provision(caddyCtx); err != nil {
		return err
	}
	ledger, err := s.OpenLedger(accounting.LedgerOptions{})
	if err != nil {
		return err
	}
	for i := range originals {
		r := original(i)
		if err := ledger.Begin(&r); err != nil {
			return err
		}
		ledger.End(&r)
	}
	if err := ledger.Settled(ctx); err != nil {
		return err
	}
	return ledger.Release()
}

// original returns the record of a request.
func original(i int) accounting.Record {
	key := i / 2
	model := modelOf(key, i%2)
	r := accounting.Record{
		Request: fmt.Sprintf("req_%05d", i), Key: aigateway.StoredKeyID(int64(1000 + key)), User: fmt.Sprintf("user-%03d", key%users), Limit: "daily",
		Model: model, Operation: "generate", Format: [...]string{"messages", "chat", "responses"}[i%3], Stream: i%2 == 0, Status: 200, Outcome: "answered",
		FirstByte: 250 * time.Millisecond, Duration: time.Duration(1+i%20) * time.Second,
		Calls: []accounting.Call{{
			Provider: fmt.Sprintf("large-%02d", i%40), Model: model, Answered: model, Format: "chat", Status: 200, Source: accounting.SourceProvider,
			Tokens: token.Counts{Fresh: int64(100 + i%1000), CacheRead: int64(i % 7 * 1000), Answer: int64(50 + i%300)},
			Price:  "many *", Cost: aigateway.Cost{Nanos: int64(10_000_000 + i*1000), Currency: "USD"},
		}},
	}
	if i%25 == 0 {
		r.Status, r.Outcome, r.Calls[0].Status = 502, "failed", 502
	}
	if i%16 < 2 {
		r.Labels = aigateway.Labels{Tags: []aigateway.Tag{{Name: "team", Value: fmt.Sprint("team ", key%12)}}, Customer: fmt.Sprint("customer ", key%500)}
	}
	return r
}

// popular are the models of three keys of five, in twelfths of their requests.
var popular = strings.Fields(`claude-sonnet-5 claude-sonnet-5 claude-sonnet-5 claude-sonnet-5 gpt-5.5 gpt-5.5 gpt-5.5 gemini-3-pro gemini-3-pro
	claude-haiku-5 claude-haiku-5 deepseek-v4`)

// modelOf returns the model of a request of a key.
func modelOf(key, request int) string {
	if n := key % 20; n < len(popular) {
		return popular[(n+7*request)%len(popular)]
	}
	return fmt.Sprintf("many-%03d", (key/20*8+key%20+7*request)%(models-5)+1)
}

// run runs statements in one transaction.
func run(ctx context.Context, path string, statements []string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=synchronous(0)&_pragma=temp_store(memory)&_pragma=cache_size(-400000)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%w: %s", err, statement)
		}
	}
	return tx.Commit()
}

// period is that of a page, in milliseconds. The bits of an id above 38 number it.
const period = 65_536

// sumColumns are the columns of sums, in the order of the tables.
var sumColumns = strings.Fields(`requests calls streams estimated unpriced fresh cache_read cache_write cache_write_long answer reasoning searches cost held duration ttfb ttfb_n saved`)

// added returns an expression for each sum.
func added(format string) string {
	all := make([]string, len(sumColumns))
	for i, column := range sumColumns {
		all[i] = fmt.Sprintf(format, column)
	}
	return strings.Join(all, ", ")
}

const names = `api_key, holder, limit_name, model, provider, upstream, outcome, currency`

// records are the statements that copy the records and their sums.
var records = func() []string {
	statements := []string{
		// The hours in which the records of a page are repeated, and the periods from the original to them.
		fmt.Sprintf(`CREATE TEMP TABLE sessions AS
			WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d - 1),
				page AS (SELECT last, first, row_number() OVER (ORDER BY last) * 7919 AS number FROM gateway_ledger_pages),
				at AS (SELECT last, first, (i * %[2]d / %[1]d + number %% (%[2]d / %[1]d)) %% %[2]d AS ago FROM n, page),
				on_day AS (SELECT last, first, ago, 8 + ago %% 24 * 10 / 24 AS hour, unixepoch() / 86400 - ago / 24 - (8 + ago %% 24 * 10 / 24 >= unixepoch() / 3600 %% 24) AS day FROM at),
				worked AS (SELECT last, first, ((day - (2 + ago %% 3) * ((day + 4) %% 7 IN (0, 6) AND hour %% 4 > 0)) * 24 + hour) * 3600000 AS hour FROM on_day)
			SELECT last, first, hour, (hour - 1577836800000) / %[3]d + 1 - (first >> 38) AS shift FROM worked`, sessions, days*24, period),
		`CREATE TEMP TABLE original_pages AS SELECT * FROM gateway_ledger_pages`,
		`CREATE TEMP TABLE original_owners AS SELECT * FROM gateway_ledger_owners`,
		`CREATE TEMP TABLE gateway_usage AS SELECT * FROM main.gateway_usage WHERE span = 1`,
		`CREATE TEMP TABLE gateway_usage_labels AS SELECT * FROM main.gateway_usage_labels WHERE span = 1`,
		`CREATE TEMP TABLE page_of_key AS SELECT name, min(last) AS last FROM gateway_ledger_owners WHERE kind = 1 GROUP BY name`,
		`DELETE FROM gateway_ledger_pages`, `DELETE FROM gateway_ledger_owners`, `DELETE FROM main.gateway_usage`, `DELETE FROM main.gateway_usage_labels`,
		fmt.Sprintf(`CREATE TEMP TABLE copies AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT last AS original, last + ((shift + 8 * i) << 38) AS last, first + ((shift + 8 * i) << 38) AS first FROM sessions, n ORDER BY 2`, repeats-1),
		`INSERT INTO gateway_ledger_pages (last, first, records) SELECT c.last, c.first, p.records FROM copies c JOIN original_pages p ON p.last = c.original ORDER BY c.last`,
		`INSERT INTO gateway_ledger_owners (last, kind, name) SELECT c.last, o.kind, o.name FROM copies c JOIN original_owners o ON o.last = c.original ORDER BY c.last, o.kind, o.name`,
	}
	for table, label := range map[string]string{"gateway_usage": "", "gateway_usage_labels": "label, value, "} {
		sum := func(span int, column, sums, tables string) string {
			return fmt.Sprintf(`INSERT INTO main.%s SELECT %s%d, %s AS begin, %s, %s FROM %s GROUP BY %[2]sbegin, %[5]s ORDER BY begin`, table, label, span, column, names, sums, tables)
		}
		statements = append(statements,
			sum(1, "hour", added(fmt.Sprintf("%d * sum(%%s)", repeats)), fmt.Sprintf(`page_of_key k JOIN sessions s ON s.last = k.last JOIN temp.%s u ON u.api_key = k.name`, table)),
			sum(2, "at / 86400000 * 86400000", added("sum(%s)"), "main."+table+" WHERE span = 1"),
			sum(3, "unixepoch(at / 1000, 'unixepoch', 'start of month') * 1000", added("sum(%s)"), "main."+table+" WHERE span = 2"))
	}
	for _, level := range [][2]string{
		{"span + 3, at, 0, 0, 0, 0, 0, 0, 0, currency", "span, at, currency"},
		{"span + 6, at, 0, 0, limit_name, model, provider, upstream, outcome, currency", "span, at, limit_name, model, provider, upstream, outcome, currency"},
		{"span + 9, at, api_key, holder, limit_name, 0, 0, 0, outcome, currency", "span, at, api_key, holder, limit_name, outcome, currency"},
	} {
		statements = append(statements, fmt.Sprintf(`INSERT INTO main.gateway_usage SELECT %s, %s FROM main.gateway_usage WHERE span <= 3 GROUP BY %s`, level[0], added("sum(%s)"), level[1]))
	}
	return statements
}()
