package newapi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module" // the words of the Caddyfile
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/newapi"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/rows"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

// example returns the dump of an example, with texts replaced, in pairs.
func example(t testing.TB, name string, replaced ...string) rows.Tables {
	t.Helper()
	text, err := os.ReadFile("../../../../testdata/migration/" + name)
	require.NoError(t, err)
	for i := 0; i < len(replaced); i += 2 {
		require.Contains(t, string(text), replaced[i])
	}
	return dumped(t, strings.NewReplacer(replaced...).Replace(string(text)))
}

func dumped(t testing.TB, text string) rows.Tables {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump.sql")
	require.NoError(t, os.WriteFile(path, []byte("-- PostgreSQL database dump\n"+text), 0o600))
	all, err := rows.File(t.Context(), path, newapi.TableNames...)
	require.NoError(t, err)
	return all
}

// read returns the texts of an import: the Caddyfile, which the gateway knows, the file of keys,
// which it can read, and the report.
func read(t *testing.T, product newapi.Product, tables rows.Tables, group string) (text, file, report string, g *migration.Gateway) {
	t.Helper()
	g, r, err := newapi.Read(product, tables, "ai.example.com", group)
	require.NoError(t, err)
	text, file = g.Caddyfile(), migration.KeysFile(g.Keys)
	assert.Equal(t, string(caddyfile.Format([]byte(text))), text)
	_, err = gatewaytest.Adapt(text)
	require.NoError(t, err, text)
	var known keys.ConfigKeys
	require.NoError(t, known.UnmarshalCaddyfile(caddyfile.NewTestDispenser(file)), file)
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	for _, secret := range g.Secrets {
		assert.NotContains(t, text+file+b.String(), secret.Value)
	}
	return text, file, b.String(), g
}

// contains fails the test if a text lacks one of others, or has one behind "!".
func contains(t *testing.T, text string, wanted []string) {
	t.Helper()
	for _, want := range wanted {
		if not, ok := strings.CutPrefix(want, "!"); ok {
			assert.NotContains(t, text, not)
		} else {
			assert.Contains(t, text, want)
		}
	}
}

// oneAlice renames the user whose name differs from another one in letter case only.
var oneAlice = []string{"(3, 'alice'", "(3, 'alina'"}

// What comes of the example, with the channels of one group.
func TestTheExample(t *testing.T) {
	for name, tt := range map[string]struct {
		group    string
		replaced []string
		text     []string
		keys     []string
		report   []string
	}{
		"Z033 the digest is that of the key with sk-": {"vip", nil, nil, []string{
			"key alice-laptop-1 " + migration.Digest("sk-Examplealice000000000000000000000000000000000000") + " {\n\towner alice\n\tlimit user-alice\n}", "!" + migration.Digest("Examplealice000000000000000000000000000000000000"),
		}, nil},
		"Z035 a channel has the API keys that are on": {"default", nil, []string{
			"# channel 2: 中转 relay; multi_key_mode polling: each session has one key\n\t\tprovider relay openai_compatible {env.CHANNEL_2_KEY_1} {env.CHANNEL_2_KEY_3} {", "network_proxy url socks5://127.0.0.1:1080", "header_up X-Relay 1",
		}, nil, []string{"channels 2: the API key number 2 is off", "channels 2 param_override"}},
		"Z037 a name of other letters is a number, and the old one is shown": {"default", nil, nil, []string{"# 服务 prod\nkey user-4--prod-3 sha256:"}, []string{"users 4: the name has other characters"}},
		"Z038 what is left of a quota is a budget, by the ratio of the group": {"vip", nil, []string{
			"limit user-alice {\n\t\t\tper user\n\t\t\tbudget 12.5/total\n\t\t}", "limit alice-laptop-2 {\n\t\t\tper key\n\t\t\twithin user-alice\n\t\t\tbudget 3.75/total\n\t\t}", "!user-root",
		}, []string{"limit alice-laptop-2\n"}, nil},
		"Z038 a ratio of one changes nothing": {"vip", []string{`"vip":0.8}'`, `"vip":1}'`}, []string{"budget 10/total", "budget 3/total"}, nil, nil},
		"Z039 what is off, empty or banned is disabled, and what is deleted is gone": {"default", nil, nil, []string{
			"key root-exhausted-7 " + migration.Digest("sk-Exampleexhausted00000000000000000000000000000006") + " {\n\towner root\n\tlimit rate-default\n\tdisabled\n}",
			"key root-nothing-9 " + migration.Digest("sk-Examplenomodels000000000000000000000000000000008") + " {\n\towner root\n\tlimit rate-default\n\tdisabled\n}",
			"\towner banned\n\tlimit user-banned\n\tdisabled\n", "!deleted", "from 10.0.0.0/8 203.0.113.7",
		}, nil},
		"Z039 a text that is no network disables": {"default", []string{"203.0.113.7'", "office'"}, nil, []string{"from 10.0.0.0/8\n\tlimit rate-default\n\tdisabled"}, []string{"allow_ips has something that is not a network"}},
		"Z040 retries bound the attempts":         {"default", []string{"'RetryTimes', '1'", "'RetryTimes', '0'"}, []string{"to relay/gpt-4o\n\t\t\tattempts 1\n"}, nil, nil},
		"Z042 saved ratios are a price": {
			"default", []string{"'gpt-4o,gpt-4o-mini'", "'gpt-4o,own-model'"}, []string{"to openai-main/own-model {\n\t\t\t\tprice input 1 output 4\n\t\t\t}"}, nil,
			[]string{"options CompletionRatio: gpt-4o has none that is saved"},
		},
		"Z043 a budget below what a request reserves is named": {"vip", []string{"1500000, FALSE", "200000, FALSE"}, []string{"budget 0.5/total"}, nil, []string{
			"limit alice-laptop-2: a request for claude-opus-5 with an answer of up to 32000 tokens reserves 0.8 USD, more than the whole budget",
		}},
		"a mapping is followed, and what has no counterpart is a comment": {"default", nil, []string{
			"to openai-main/gpt-4o-2024-11-20\n", "!attempts", "# channel 6: Bedrock\n\t\tprovider bedrock {\n\t\t\tmodels off\n\t\t\tregion us-east-1\n", "to bedrock/us.anthropic.claude-3-7-sonnet-20250219-v1:0", "# left out: channel 7 DeepSeek, off by hand: it is off", "resource contoso",
		}, nil, []string{"codes of 10 USD", "gemini-2.5-pro-thinking: the ending asks for reasoning", "2 keys of other groups than default", "the group auto becomes the group default"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, file, report, _ := read(t, newapi.NewAPI, example(t, "new-api.sql", append(oneAlice, tt.replaced...)...), tt.group)
			contains(t, text, tt.text)
			contains(t, file, tt.keys)
			contains(t, report, tt.report)
		})
	}
}

func TestWhatIsNoSource(t *testing.T) {
	for name, tt := range map[string]struct {
		product newapi.Product
		tables  rows.Tables
		want    string
	}{
		"Z034 the database of one-api is not that of new-api": {newapi.NewAPI, example(t, "one-api.sql"), "this is not a database of new-api: tokens has the column subnet"},
		"the database of new-api is not that of one-api":      {newapi.OneAPI, example(t, "new-api.sql"), "this is not a database of one-api: tokens has the column model_limits"},
		"Z036 groups with other channels need a choice":       {newapi.NewAPI, example(t, "new-api.sql", oneAlice...), `the model "claude-sonnet-4-5" has other channels in the group "default" than in "vip": choose the group of the site with --group`},
		"Z037 names that differ in letter case only":          {newapi.NewAPI, example(t, "new-api.sql", "'default', '', 0, NULL, NULL, NULL, NULL, '{}', '', 1720000000),\n (5", "'other', '', 0, NULL, NULL, NULL, NULL, '{}', '', 1720000000),\n (5", "'gpt-4o', 'default'", "'gpt-4o-mini', 'default,vip'", "'claude-sonnet-4-5', 'default'", "'x', 'default'"), `the users 2 and 3 would both be "alice"`},
		"no tables": {newapi.NewAPI, rows.Tables{}, "no tables channels and tokens of new-api"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := newapi.Read(tt.product, tt.tables, "ai.example.com", "")
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// A dry run named one blocker, and the next one after the first was out of the way.
func TestAllBlockersAreNamedAtOnce(t *testing.T) {
	_, report, err := newapi.Read(newapi.NewAPI, example(t, "new-api.sql"), "ai.example.com", "")
	require.ErrorContains(t, err, "choose the group of the site with --group")
	require.ErrorContains(t, err, `the users 2 and 3 would both be "alice"`)
	assert.NotEmpty(t, report.Kept)
}

// Z041: PostgreSQL pads columns of a fixed length with blanks.
func TestZ041AKeyIsPaddedWithBlanks(t *testing.T) {
	padded := "'Examplevip00000000000000000000000000000000000003"
	_, file, _, _ := read(t, newapi.NewAPI, example(t, "new-api.sql", append(oneAlice, padded, padded+strings.Repeat(" ", 9))...), "default")
	assert.Contains(t, file, migration.Digest("sk-Examplevip00000000000000000000000000000000000003"))
}

func TestOneAPI(t *testing.T) {
	text, file, report, g := read(t, newapi.OneAPI, example(t, "one-api.sql"), "")
	contains(t, text, []string{
		"provider groq-29-here-no-such-type-in-new-api groq {env.CHANNEL_1_KEY} {", "base_url https://llm.example.com/v1\n", "model own-model", "!gpt-4o", "# left out: channel 3 CloseAI (4 is Ollama in new-api): the gateway has no provider",
	})
	contains(t, file, []string{"models own-model\n\tfrom 10.0.0.0/8 192.168.0.0/16"})
	contains(t, report, []string{"channels 2 system_prompt", "may use gpt-4o, which the gateway does not have"})
	require.Len(t, g.Users, 1, "a deleted user of one-api is gone")
	assert.Equal(t, "root", g.Users[0].Name)
}

func TestUsers(t *testing.T) {
	const hash = "$2a$10$QSI6vWIEPScek171POfS3e3pF0yY64uTlOdnkBR6G7G4eU6NHVL1q"
	_, _, report, g := read(t, newapi.NewAPI, dumped(t, `CREATE TABLE channels (id int); CREATE TABLE tokens (id int);
		INSERT INTO users (id, username, password, display_name, role, status) VALUES (1, 'Root', '`+hash+`', 'The Root', 100, 1), (2, 'b', '`+strings.Replace(hash, "$10$", "$31$", 1)+`', NULL, 10, 2), (3, 'c', 'x', '', 1, 1)`), "")
	assert.Equal(t, []migration.User{
		{Name: "root", DisplayName: "The Root", Role: 100, Password: hash}, {Name: "b", DisplayName: "b", Role: 10, Disabled: true}, {Name: "c", DisplayName: "c", Role: 1},
	}, g.Users)
	contains(t, report, []string{"the password of b has the cost 31, above 12", "the password of c is not a bcrypt hash"})
}

// FuzzHostileTexts: whatever the names and addresses of a database are, the Caddyfile has the
// words of the import and no others, and no text of the database becomes a placeholder.
func FuzzHostileTexts(f *testing.F) {
	for _, seed := range []string{
		"x\n}\nevil.example {\n\trespond hacked", "{$HOME}", "{env.SECRET}", "a b\" `c\\", "<<EOF", "# c", "{", "}", "{$X:a\nb}", "a\\", "\u00a0x", "a\u2028b", "*", "\xff", "import /etc/passwd", "a\rb", "{file./etc/passwd}", "\"", "`", "é\\\"`",
	} {
		f.Add(seed, seed, seed)
	}
	f.Setenv("X", "placeholder-canary")
	f.Fuzz(hostile)
}

// hostile reads a database with texts of an attacker.
func hostile(t *testing.T, name, model, address string) {
	quote := func(s string) string {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "'", "''"), "\x00", "") + "'"
	}
	tables := dumped(t, `INSERT INTO channels (id, type, "key", status, name, base_url, models, "group", model_mapping, header_override, setting) VALUES
		(1, 1, `+quote(name)+`, 1, `+quote(name)+`, `+quote("https://e.example/"+address)+`, `+quote(model)+`, 'default', NULL, `+quote(`{"X-A":"`+name+`"}`)+`, `+quote(`{"proxy":"http://`+address+`"}`)+`),
		(2, 99, 'k', 1, `+quote(name)+`, `+quote(address)+`, 'm', 'default', NULL, NULL, NULL);
		INSERT INTO users (id, username, display_name, status, role, quota, "group") VALUES (1, `+quote(name)+`, `+quote(address)+`, 1, 1, 5000000, 'default');
		INSERT INTO tokens (id, user_id, "key", status, name, remain_quota, model_limits_enabled, model_limits, allow_ips) VALUES (1, 1, `+quote(model)+`, 1, `+quote(address)+`, 500, 1, `+quote(model)+`, `+quote(address)+`);`)
	g, r, err := newapi.Read(newapi.NewAPI, tables, "ai.example.com", "")
	if err != nil {
		return
	}
	var report bytes.Buffer
	require.NoError(t, r.Write(&report))
	text, file := g.Caddyfile(), migration.KeysFile(g.Keys)
	for _, written := range []string{text, file, report.String()} {
		assert.NotContains(t, written, "{$")
		assert.NotContains(t, strings.ReplaceAll(written, "{env.CHANNEL_1_KEY", ""), "{env.")
		assert.NotContains(t, written, "{file.")
	}
	blocks, err := caddyfile.Parse("Caddyfile", []byte(text))
	require.NoError(t, err, text)
	require.Len(t, blocks, 2, text)
	assert.Equal(t, "ai.example.com", blocks[1].GetKeysText()[0])
	require.Len(t, blocks[1].Segments, 1, text)
	for segment := range caddyfileWords(t, blocks[0]) {
		assert.Contains(t, []string{"store", "provider", "model", "limit"}, segment, text)
	}
	for d := caddyfile.NewTestDispenser(file); d.Next(); {
		require.Equal(t, "key", d.Val(), file)
		d.RemainingArgs()
		for d.NextBlock(0) {
			assert.Contains(t, []string{"owner", "models", "from", "expires", "limit", "disabled"}, d.Val(), file)
			d.RemainingArgs()
		}
	}
}

// caddyfileWords returns the words of the global option ai_gateway.
func caddyfileWords(t *testing.T, block caddyfile.ServerBlock) map[string]bool {
	require.Len(t, block.Segments, 1)
	d := caddyfile.NewDispenser(block.Segments[0])
	words := map[string]bool{}
	for d.Next() {
		require.Equal(t, "ai_gateway", d.Val())
		for d.NextBlock(0) {
			words[d.Val()] = true
			d.RemainingArgs()
			for d.NextBlock(1) {
				d.RemainingArgs()
				for d.NextBlock(2) {
				}
			}
		}
	}
	return words
}
