package rows

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func written(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump.sql")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A row is the same from a dump of each program.
func TestRowsOfDumps(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"pg_dump": {
			`CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $_$ BEGIN; INSERT INTO users VALUES (9); END $_$;
CREATE TABLE public."users" (
    id integer NOT NULL,
    name text DEFAULT 'a;b'::text,
    models text[] DEFAULT ARRAY[]::text[],
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    blocked boolean
);
COPY public.other (id) FROM stdin;
1
\.
COPY public."users" (id, name, models, data, blocked) FROM stdin;
1	a\tb\\c	{gpt,"a b","q\\"x"}	{"a": 1}	t
2	\N	{}	{}	f
\.
ALTER TABLE ONLY public."users" ADD CONSTRAINT k PRIMARY KEY (id);
`,
			`{"blocked":true,"data":{"a":1},"id":"1","models":["gpt","a b","q\"x"],"name":"a\tb\\c"}
{"blocked":false,"data":{},"id":"2","models":[]}`,
		},
		"pg_dump --inserts": {
			`CREATE TABLE "users" ("id" integer, "name" text, PRIMARY KEY ("id"));
INSERT INTO public."users" VALUES (1, 'it''s -- no comment; \n'), (2, E'a\nb') ON CONFLICT DO NOTHING;
INSERT INTO "users" (name, id) VALUES ('x'::text, 3);`,
			`{"id":1,"name":"it's -- no comment; \\n"}
{"id":2,"name":"a\nb"}
{"id":3,"name":"x"}`,
		},
		"mysqldump": {
			"-- MySQL dump 10.13\n/*!40101 SET NAMES utf8 */;\nCREATE TABLE `users` (\n  `id` int NOT NULL AUTO_INCREMENT,\n  `name` varchar(64) DEFAULT 'x',\n  `ok` tinyint(1) DEFAULT '0',\n  `n` decimal(10,2),\n  PRIMARY KEY (`id`),\n  KEY `k` (`name`)\n) ENGINE=InnoDB;\nLOCK TABLES `users` WRITE;\nINSERT INTO `users` VALUES (1,'it\\'s; \\\\ \\n',1,-1.50),(2,_binary 'b',NULL,1e-05),(3,0x41,0,now());\nUNLOCK TABLES;\n",
			`{"id":1,"n":-1.50,"name":"it's; \\ \n","ok":1}
{"id":2,"n":1e-05,"name":"b","ok":null}
{"id":3,"n":null,"name":null,"ok":0}`,
		},
		"sqlite3 .dump": {
			"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE IF NOT EXISTS \"users\" (id INTEGER, \"name\" TEXT);\nINSERT INTO users VALUES(1,X'6162');\nCOMMIT;",
			`{"id":1,"name":"ab"}`,
		},
		"a backtick in a value is no dump of MySQL": {
			"--\n-- PostgreSQL database dump\n--\nCREATE TABLE users (id int, name text);\nINSERT INTO users VALUES (1, '\nINSERT INTO ` \\');",
			`{"id":1,"name":"\nINSERT INTO ` + "`" + ` \\"}`,
		},
		"a table without rows": {"CREATE TABLE users (id int);", ""},
		"cut off":              {"CREATE TABLE users (id int); INSERT INTO users VALUES (1), (2", "a row does not end"},
		"a string without end": {"INSERT INTO users VALUES ('", "a string does not end"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := File(t.Context(), written(t, tt.text), "users")
			if err != nil {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			require.NotNil(t, all["users"])
			var lines []string
			for _, row := range all["users"] {
				lines = append(lines, string(row))
			}
			assert.Equal(t, tt.want, strings.Join(lines, "\n"))
		})
	}
}

func TestRowsOfDatabases(t *testing.T) {
	const schema = `CREATE TABLE users (id INTEGER, name VARCHAR(9), "group" VARCHAR(9)); INSERT INTO users VALUES (1, 'a', NULL), (2, 'b', 'c');`
	want := Tables{"users": {json.RawMessage(`{"group":null,"id":1,"name":"a"}`), json.RawMessage(`{"group":"c","id":2,"name":"b"}`)}}
	path := filepath.Join(t.TempDir(), "a b?.db")
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(strings.ReplaceAll(path, " ", "%20"), "?", "%3F"))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), schema)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	all, err := File(t.Context(), path, "users", "absent")
	require.NoError(t, err)
	assert.Equal(t, want, all)

	_, err = File(t.Context(), written(t, "PGDMP\x00"), "users")
	require.ErrorContains(t, err, "neither")

	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	dsn := cluster.NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.PgConn().Exec(t.Context(), schema).ReadAll()
	require.NoError(t, err)
	all, err = Query(t.Context(), dsn, "users", "absent")
	require.NoError(t, err)
	require.Len(t, all["users"], 2)
	for i := range all["users"] {
		assert.JSONEq(t, string(want["users"][i]), string(all["users"][i]))
	}
	assert.NotContains(t, all, "absent")
}

// Whatever a dump has, reading it ends, and its rows are objects.
func FuzzDump(f *testing.F) {
	for _, seed := range []string{
		"CREATE TABLE users (id int, a text[], b jsonb); INSERT INTO users VALUES (1,'{a,\"b\\\\', '{}'), (E'\\'', $$x$$);",
		"COPY users (id, a) FROM stdin;\n1\t\\N\\t\\\n\\.\n", "-- `\nINSERT INTO `users` VALUES (0x41, _utf8 'a\\'b', -1, f((2)))", "/* ", "$a$", "CREATE TABLE public.users",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := File(t.Context(), written(t, text), "users")
		if err != nil {
			return
		}
		for _, row := range all["users"] {
			var object map[string]any
			require.NoError(t, json.Unmarshal(row, &object), "%s", row)
		}
	})
}
