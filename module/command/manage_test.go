package command

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// freshData sets an empty data directory, and returns the path of the file of the
// default store in it.
func freshData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", dir)
	caddy.DefaultStorage.Path = t.TempDir()
	return filepath.Join(dir, "caddy", "ai_gateway", "gateway.db")
}

// execute runs a subcommand as the command line does.
func execute(t *testing.T, input, line string) (out, messages string, err error) {
	t.Helper()
	cmd := &cobra.Command{Use: "ai-gateway", SilenceErrors: true, SilenceUsage: true}
	caddycmd.Commands()["ai-gateway"].CobraFunc(cmd)
	var stdout, stderr bytes.Buffer
	cmd.SetArgs(strings.Fields(line))
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	err = cmd.Execute()
	return stdout.String(), stderr.String(), err
}

// succeed runs a subcommand that must succeed, and returns its output.
func succeed(t *testing.T, line string) string {
	t.Helper()
	out, _, err := execute(t, "", line)
	require.NoError(t, err, line)
	return out
}

func TestUserCommandManagesUsers(t *testing.T) {
	freshData(t)
	assert.Regexp(t, `^username: alice\npassword: [A-Z2-7]{26}\n$`, succeed(t, "user add Alice --role admin"))
	out, _, err := execute(t, "a long password of bob\n", "user add bob --password-stdin")
	require.NoError(t, err)
	assert.Equal(t, "username: bob\n", out, "a given password is not shown")

	assert.Regexp(t, `^username: alice\npassword: [A-Z2-7]{26}\n$`, succeed(t, "user passwd alice"))
	out, _, err = execute(t, "another long password\r\n", "user passwd bob --password-stdin")
	require.NoError(t, err)
	assert.Equal(t, "username: bob\n", out)

	assert.Equal(t, "user bob is disabled\n", succeed(t, "user disable bob"))
	moment := `\d{4}-\d\d-\d\d \d\d:\d\d`
	assert.Regexp(t, `^NAME   ROLE   LIMIT  STATUS    CREATED           LAST LOGIN\n`+
		`alice  admin         enabled   `+moment+`  never\n`+
		`bob    user          disabled  `+moment+`  never\n$`, succeed(t, "user list"))
	assert.Equal(t, "user bob is enabled\n", succeed(t, "user enable bob"))
	assert.Equal(t, "user bob is linked\n", succeed(t, "user link bob --issuer https://login.example.com --subject 7"))
	assert.Equal(t, "user bob is not linked any more\n", succeed(t, "user unlink bob"))
	assert.Equal(t, "user bob is deleted\n", succeed(t, "user delete bob"))
	assert.NotContains(t, succeed(t, "user list"), "bob")
}

func TestKeyCommandManagesKeys(t *testing.T) {
	freshData(t)
	succeed(t, "user add alice")
	out, messages, err := execute(t, "", "key new --user alice --name laptop --models gpt-*,demo --from 10.0.0.0/8 --limit small --expires 2099-01-01")
	require.NoError(t, err)
	assert.Regexp(t, `^sk-[0-9A-Za-z]{48}\n$`, out, "nothing but the key, for scripts")
	assert.True(t, strings.HasSuffix(messages, "gateway.db.\nKey 1 of alice, shown only now:\n"), messages)
	key := strings.TrimSpace(out)

	list := succeed(t, "key list --user alice")
	assert.Equal(t, "ID  USER   NAME    KEY              LIMIT  STATUS   EXPIRES           LAST USED\n"+
		"1   alice  laptop  "+key[:7]+"****"+key[47:]+"  small  enabled  2099-01-01 00:00  never\n", list)
	assert.Equal(t, list, succeed(t, "key list"))
	assert.NotContains(t, list, key)
	// The key of a disabled user was once listed as enabled, although it is refused.
	succeed(t, "user disable alice")
	assert.Contains(t, succeed(t, "key list"), "  user disabled  2099-01-01 00:00  never\n")
	succeed(t, "user enable alice")
	assert.Equal(t, list, succeed(t, "key list"))
	assert.Equal(t, "key 1 is revoked\n", succeed(t, "key revoke 1"))
	assert.NotContains(t, succeed(t, "key list"), "laptop")
}

func TestKeysAndUsersHaveRulesOfTheirOwn(t *testing.T) {
	freshData(t)
	succeed(t, "user add alice")
	succeed(t, "key new --user alice --name laptop --budget 20/month --requests 60/1m")
	succeed(t, "key new --user alice --name plain")
	assert.Contains(t, succeed(t, "key list"), "requests 60/1m, budget 20/month  enabled")
	assert.Equal(t, "key 1 is changed\n", succeed(t, "key set 1 --requests= --concurrent 2 --priority low --models gpt-* --name tower --limit small"))
	assert.Contains(t, succeed(t, "key list"), "small, concurrent 2, budget 20/month, priority low  enabled")
	assert.Equal(t, "user alice is changed\n", succeed(t, "user set alice --budget 100/month --tokens 1000/1d"))
	assert.Contains(t, succeed(t, "user list"), "alice  user  tokens 1000/1d, budget 100/month  enabled")
	assert.Equal(t, "key 1 is valid; only a running gateway knows what is left of its limits\n", succeed(t, "key why 1"))
	succeed(t, "user disable alice")
	assert.Equal(t, "requests with key 1 are refused: the user of the key is disabled\n", succeed(t, "key why key_1"))
	for line, want := range map[string]string{
		"key set 1 --budget 5":             "key 1: budget must be an amount and a period",
		"key set 1 --requests 5":           "key 1: requests: a rate is a number",
		"key set x --budget 5/day":         "the ID of a key must be a number; see key list",
		"key set 9 --budget 5/day":         "key 9: not found",
		"key set 1 --tags search":          "key 1: tags: a tag is a name and a value",
		"user set alice --concurrent -1":   "user alice: concurrent must be 1 to",
		"user set nobody --budget 5/month": "user nobody: there is no user with this name",
	} {
		_, _, err := execute(t, "", line)
		assert.ErrorContains(t, err, want, line)
	}
}

func TestKeyRotateReplacesTheSecret(t *testing.T) {
	freshData(t)
	succeed(t, "user add alice")
	first := succeed(t, "key new --user alice --name laptop")
	out, messages, err := execute(t, "", "key rotate 1 --overlap 24h")
	require.NoError(t, err)
	assert.Regexp(t, `^sk-[0-9A-Za-z]{48}\n$`, out, "nothing but the secret, for scripts")
	assert.NotEqual(t, first, out)
	assert.Regexp(t, `The old secret is valid until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\. The new one, shown only now:\n$`, messages)
	assert.Contains(t, succeed(t, "key list"), out[:7], "the list has the new secret, shortened")
	_, messages, err = execute(t, "", "key rotate 1")
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(messages, "The old secret is not valid any more. The new one, shown only now:\n"), messages)
	_, _, err = execute(t, "", "key rotate 1 --overlap 31d")
	assert.EqualError(t, err, "key 1: overlap must be a duration such as 24h or 7d, at most 30d")
}

// A key with a mistyped limit was once made, and refused by the gateway.
func TestAKeyHasALimitOfTheConfiguration(t *testing.T) {
	freshData(t)
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "Caddyfile")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	config := write("{\n\tai_gateway {\n\t\tstore sqlite " + filepath.Join(t.TempDir(), "own.db") + "\n\t\tlimit team {\n\t\t\tconcurrent 8\n\t\t}\n\t}\n}\n" +
		"http://:8080 {\n\tai_gateway {\n\t\tprovider demo\n\t\tlimit small {\n\t\t\tconcurrent 1\n\t\t}\n\t}\n}\n")
	succeed(t, "user add alice --config "+config)
	for _, limit := range []string{"small", "team"} {
		succeed(t, "key new --user alice --name "+limit+" --limit "+limit+" --config "+config)
	}
	_, _, err := execute(t, "", "key new --user alice --name laptop --limit smal --config "+config)
	assert.EqualError(t, err, "the limit 'smal' is not defined; the limits of the configuration are: small, team")
	assert.NotContains(t, succeed(t, "key list --config "+config), "laptop")
	without := write("http://:8080 {\n\tai_gateway {\n\t\tprovider demo\n\t}\n}\n")
	_, _, err = execute(t, "", "key new --user alice --name laptop --limit small --config "+without)
	assert.EqualError(t, err, "the limit 'small' is not defined: the configuration has no limits")
}

func TestAKeyHasALimitOfTheRunningConfiguration(t *testing.T) {
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{
			"/config/": `{"apps":{"ai_gateway":{"limits":[{"name":"team","concurrent":1}]}}}`,
			keysPath:   `{"id":1,"user":"alice","key":"sk-1"}`,
		}
		if answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, answers[r.URL.Path])
	}))
	defer running.Close()
	command := "key new --user alice --name laptop --address " + strings.TrimPrefix(running.URL, "http://") + " --limit "
	assert.Equal(t, "sk-1\n", succeed(t, command+"team"))
	_, _, err := execute(t, "", command+"small")
	assert.EqualError(t, err, "the limit 'small' is not defined; the limits of the configuration are: team")
}

func TestErrorsNameTheCause(t *testing.T) {
	freshData(t)
	succeed(t, "user add alice")
	succeed(t, "user add root --role root")
	for line, want := range map[string]string{
		"user add alice":                         "the username is taken",
		"user add bob --role king":               "role must be user, admin or root",
		"user add no!name":                       "username",
		"user passwd bob":                        "user bob: there is no user with this name",
		"user disable bob":                       "user bob: there is no user with this name",
		"user link bob --issuer i --subject s":   "user bob: there is no user with this name",
		"user link bob --issuer i":               "required flag",
		"user unlink bob":                        "user bob: there is no user with this name",
		"user delete bob":                        "user bob: there is no user with this name",
		"user delete root":                       "user root: the last enabled root user must stay",
		"user disable root":                      "user root: the last enabled root user must stay",
		"user delete ../keys/1":                  "user ../keys/1: ",
		"key new":                                "a key needs --user and --name",
		"key new --user bob --name x":            "creating key for bob: there is no user with this name",
		"key new -u alice -n x --expires soon":   "expires must be YYYY-MM-DD",
		"key new -u alice -n x --from nowhere":   "from",
		"key list --user bob":                    "there is no user with this name",
		"key revoke 7":                           "key 7: not found",
		"key revoke laptop":                      "the ID of a key must be a number",
		"key list --address localhost:1":         "a gateway without a configuration file has no admin API",
		"key list --address a:1 --config c":      "cannot be used together",
		"key list --config /no/such/file":        "no such file",
		"user passwd alice --password-stdin":     "the standard input is empty",
		"user add carol --password a-secret-one": "unknown flag: --password",
	} {
		_, _, err := execute(t, "", line)
		assert.ErrorContains(t, err, want, line)
	}
	_, _, err := execute(t, "short", "user add carol --password-stdin")
	assert.ErrorContains(t, err, "password must be")
	assert.NotContains(t, err.Error(), "short")
}

// TestMistakesInACommandAreExplained covers the errors that cobra makes by itself: "accepts 1
// arg(s), received 0" does not name the argument, an unknown subcommand had no suggestion below
// caddy itself, and "cache clr" succeeded.
func TestMistakesInACommandAreExplained(t *testing.T) {
	for line, want := range map[string]string{
		"usag":             `unknown command "usag" for "ai-gateway"; did you mean 'usage'? known are: audit, backup, `,
		"user addd":        `unknown command "addd" for "ai-gateway user"; did you mean 'add'? known are: add, `,
		"cache everywhere": `unknown command "everywhere" for "ai-gateway cache"; known are: clear`,
		"mcp acept":        "did you mean 'accept'?",
		"user add":         "accepts 1 arg(s), received 0; the command is: ai-gateway user add <name> [flags]",
		"team member a":    "the command is: ai-gateway team member <team> <user> [flags]",
		"explain":          "the command is: ai-gateway explain <model> [flags]",
		"models diff":      "the command is: ai-gateway models diff <file> [<old>]",
		"login":            "the command is: ai-gateway login <address>",
		"import one-api":   "the command is: ai-gateway import one-api <database>",
		"limits all":       "the command is: ai-gateway limits [flags]",
		"key new --usr a":  "unknown flag: --usr; its flags are shown by: ai-gateway key new --help",
		"models --jsn":     "unknown flag: --jsn; its flags are shown by: ai-gateway models --help",
	} {
		_, _, err := execute(t, "", line)
		assert.ErrorContains(t, err, want, line)
	}
}

func TestADamagedStoreIsNamed(t *testing.T) {
	path := freshData(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database. ", 999)), 0o600))
	_, _, err := execute(t, "", "user list")
	assert.ErrorContains(t, err, path)
}

func TestTheStoreOfAConfigurationIsUsed(t *testing.T) {
	standard := freshData(t)
	path := filepath.Join(t.TempDir(), "own.db")
	config := filepath.Join(t.TempDir(), "Caddyfile")
	require.NoError(t, os.WriteFile(config, []byte("http://:8080 {\n\tai_gateway {\n\t\tprovider demo\n\t\tstore sqlite "+path+"\n\t}\n}\n"), 0o600))
	succeed(t, "user add alice --config "+config)
	assert.FileExists(t, path)
	assert.NoFileExists(t, standard)
	assert.Contains(t, succeed(t, "user list --config "+config), "alice")
	assert.NotContains(t, succeed(t, "user list"), "alice")
}

func TestOneStoreOfAConfigurationIsFound(t *testing.T) {
	site := func(more string) string { return `{"handle":[{"handler":"ai_gateway"` + more + `}]}` }
	apps := func(global, sites string) string {
		return `{"apps":{` + global + `"http":{"servers":{"a":{"routes":[{"handle":[{"handler":"subroute","routes":[` + sites + `]}]}]}}}}}`
	}
	own := func(name string) string { return fmt.Sprintf(`,"store":{"path":%q,"store":"sqlite"}`, name) }
	for config, want := range map[string]string{
		apps("", site("")):                                             `{"store":"sqlite"}`,
		apps("", site(own("a"))):                                       `{"path":"a","store":"sqlite"}`,
		apps("", site(own("a"))+","+site(own("a"))):                    `{"path":"a","store":"sqlite"}`,
		apps(`"ai_gateway":{"store":{"store":"postgres"}},`, site("")): `{"store":"postgres"}`,
		apps(`"ai_gateway":{"max_body":1},`, site("")):                 `{"store":"sqlite"}`,
	} {
		got, err := storeOf([]byte(config))
		require.NoError(t, err, config)
		assert.JSONEq(t, want, string(got))
	}
	for config, want := range map[string]string{
		apps("", site("")+","+site(own("a"))): "several stores",
		apps("", `{"handle":[]}`):             "no site with ai_gateway",
		`{}`:                                  "no site with ai_gateway",
		// These configurations once selected the default store, so that the command
		// showed and changed users and keys of another gateway.
		apps("", site(`,"disable_accounts":true`)):                "accounts are off",
		apps(`"ai_gateway":{"disable_accounts":true},`, site("")): "accounts are off",
		`[]`: "reading the configuration",
	} {
		_, err := storeOf([]byte(config))
		assert.ErrorContains(t, err, want, config)
	}
}

var rootLines = regexp.MustCompile(`(?m)^username: root\npassword: ([A-Z2-7]{26})$`)

func TestTheFirstStartCreatesRootAndShowsThePasswordOnce(t *testing.T) {
	freshData(t)
	banner := startAgain(t, nil)
	login := rootLines.FindStringSubmatch(banner)
	require.NotNil(t, login, banner)
	assert.Equal(t, 200, logIn(t, banner, "root", login[1]))
	assert.Equal(t, 401, logIn(t, banner, "root", strings.ToLower(login[1])))

	banner = startAgain(t, nil)
	assert.NotRegexp(t, rootLines, banner)
	assert.NotContains(t, banner, "\npassword:")
	assert.Contains(t, banner, "ai-gateway user passwd root")
	assert.Equal(t, 200, logIn(t, banner, "root", login[1]))

	succeed(t, "user add other --role root")
	succeed(t, "user delete root")
	banner = startAgain(t, nil)
	assert.NotContains(t, banner, "user root", "a deleted root user is not created again")
	assert.Contains(t, banner, "Try it:")
}

func TestTheGatewayRunsWithoutAccounts(t *testing.T) {
	path := freshData(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database. ", 999)), 0o600))
	banner := startAgain(t, nil)
	assert.Contains(t, banner, "Users cannot log in")
	assert.Contains(t, banner, path)
	status, answer := paste(t, banner, nil)
	assert.Equal(t, 200, status, answer)
}

// A change by a command once left no trace of who ran it.
func TestAuditCommandShowsWhoRanACommand(t *testing.T) {
	freshData(t)
	succeed(t, "user add alice")
	succeed(t, "key new --user alice --name laptop")
	account, err := user.Current()
	require.NoError(t, err)
	out := succeed(t, "audit --action key --json")
	assert.Contains(t, out, `"actor": "command/`+account.Username+`"`)
	assert.Contains(t, out, `"action": "key.create"`)
	assert.Regexp(t, `^TIME +ACTOR +ADDRESS +ACTION +OBJECT +RESULT +CHANGES\n\S+ +command/\S+ +key.create +key/1 +ok +name: "" > "laptop", .*\n\S+ +command/\S+ +user.create +user/alice +ok +id: .*\n$`, succeed(t, "audit"))
	lines := strings.Split(strings.TrimSpace(succeed(t, "audit --jsonl")), "\n")
	assert.Len(t, lines, 2)
	assert.Len(t, strings.Split(strings.TrimSpace(succeed(t, "audit --limit 1")), "\n"), 2)
	assert.Len(t, strings.Split(strings.TrimSpace(succeed(t, "audit --object user --from 2999-01-01")), "\n"), 1)
	for _, line := range []string{"audit --limit -1", "audit --from x"} {
		_, _, err := execute(t, "", line)
		assert.Error(t, err, line)
	}
}
