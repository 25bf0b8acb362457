package keys

import (
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCaddyfileSegmentsAreAppended(t *testing.T) {
	var keys ConfigKeys
	for _, segment := range []string{
		"key alice {env.ALICE}",
		"key bob {file./run/secrets/bob} {\n\tmodels gpt-* demo\n\tmodels claude-*\n\texpires 2027-01-01\n}",
		"key carol " + hexOf("carol") + "\nkey dave {env.DAVE}",
		"key erin {env.ERIN} {\n\tfrom 10.0.0.0/8 ::1\n\tfrom 192.0.2.7\n\towner ops@example.com\n\tlimit small\n\tdisabled\n}",
	} {
		require.NoError(t, keys.UnmarshalCaddyfile(caddyfile.NewTestDispenser(segment)))
	}
	assert.Equal(t, []Entry{
		{Name: "alice", Key: "{env.ALICE}"},
		{Name: "bob", Key: "{file./run/secrets/bob}", Models: []string{"gpt-*", "demo", "claude-*"}, Expires: "2027-01-01"},
		{Name: "carol", Key: hexOf("carol")},
		{Name: "dave", Key: "{env.DAVE}"},
		{Name: "erin", Key: "{env.ERIN}", Networks: []string{"10.0.0.0/8", "::1", "192.0.2.7"}, Owner: "ops@example.com", Limit: "small", Disabled: true},
	}, keys.Keys)
}

func TestCaddyfileErrorsNameTheLineAndHideTheKey(t *testing.T) {
	for input, want := range map[string]string{
		"key":                                 "needs a name",
		"key " + secret:                       "needs a name",
		"key {env.ALICE}":                     "needs a name",
		"key a {env.A} {env.B}":               "needs a name",
		"key a " + secret:                     "a literal key is refused",
		"key " + secret + " alice":            "a literal key is refused",
		"key a sha256:00":                     "64 hexadecimal digits",
		"key {env.A} a":                       "the name of a key",
		"key a {env.A} {\n\tbudget 5\n}":      "unrecognized word in key a: 'budget'; known are: disabled, expires, from, limit, mcp, models, owner, tags",
		"key a {env.A} {\n\tform 10.0.0.1\n}": "unrecognized word in key a: 'form'; did you mean 'from'? known are:",
		"key a {env.A} {\n\tmodels\n}":        "models needs",
		"key a {env.A} {\n\texpires\n}":       "expires must occur once",
		"key a {env.A} {\n\texpires 2027-01-01\n\texpires 2028-01-01\n}": "expires must occur once",
		"key a {env.A} {\n\texpires someday\n}":                          "YYYY-MM-DD",
		"key a {env.A} {\n\tmodels \"\"\n}":                              "pattern",
		"key a {env.A} {\n\tfrom\n}":                                     "from needs at least one address",
		"key a {env.A} {\n\tfrom 10.0.0.0/99\n}":                         "a network is",
		"key a {env.A} {\n\towner a b\n}":                                "owner must occur once",
		"key a {env.A} {\n\tlimit \"a b\"\n}":                            "an owner or a limit",
		"key a {env.A} {\n\tdisabled yes\n}":                             "disabled must occur once, without a value",
		"key a {env.A} {\n\tdisabled\n\tdisabled\n}":                     "disabled must occur once, without a value",
		"key a {env.A} {\n\tdisabled":                                    "the block of key a is not closed",
		"key a {env.A}\nkey a {env.B}":                                   "key a is defined twice",
	} {
		t.Run(input, func(t *testing.T) {
			var keys ConfigKeys
			err := keys.UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
			require.ErrorContains(t, err, want)
			assert.Regexp(t, `at Testfile:[123]$`, err.Error())
			assert.NotContains(t, err.Error(), secret)
		})
	}
}

func TestAKeysFileHasOnePath(t *testing.T) {
	var file FileKeys
	require.NoError(t, file.UnmarshalCaddyfile(caddyfile.NewTestDispenser("keys_file /run/secrets/keys")))
	assert.Equal(t, "/run/secrets/keys", file.Path)
	for _, input := range []string{"keys_file", "keys_file a b", `keys_file ""`, "keys_file a {\n\twatch\n}"} {
		err := new(FileKeys).UnmarshalCaddyfile(caddyfile.NewTestDispenser(input))
		assert.ErrorContains(t, err, "keys_file needs exactly one path", input)
	}
}
