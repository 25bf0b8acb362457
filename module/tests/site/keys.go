package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// The keys of StartLocked.
const (
	AliceKey = "sk-alice-0123456789abcdef" // may use all models
	BobKey   = "sk-bob-0123456789abcdef00" // may use models named allowed-*
	OldKey   = "sk-old-0123456789abcdef00" // has expired
	NewKey   = "sk-new-0123456789abcdef00" // will expire
	OffKey   = "sk-off-0123456789abcdef00" // is disabled
	NearKey  = "sk-near-0123456789abcdef0" // may be used from this machine
	FarKey   = "sk-far-0123456789abcdef00" // may not be used from this machine

	// OddKey has the form of a generated key, but a wrong checksum, as a key of another
	// program may have.
	OddKey = "sk-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

// StartLocked runs a site with these keys, whose provider serves m1 and the
// models named allowed-*, and is not asked for its list of models. It has no store, so that
// unknown keys are invalid also if a busy machine has not let the gateway read one.
func StartLocked(t testing.TB, lines ...string) (*Site, *gatewaytest.Provider) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	setKeys(t, map[string]string{"ALICE": AliceKey, "BOB": BobKey, "OLD": OldKey, "NEW": NewKey,
		"OFF": OffKey, "NEAR": NearKey, "FAR": FarKey, "ODD": OddKey})
	return Start(t, append(lines, "accounts off", Direct.Provider("up", p, "models static m1 allowed-*"), `
		key alice {env.KEY_ALICE}
		key bob {env.KEY_BOB} {
			models allowed-*
		}
		key old {env.KEY_OLD} {
			expires 2020-01-01
		}
		key new {env.KEY_NEW} {
			expires 9999-12-31
		}
		key off {env.KEY_OFF} {
			disabled
		}
		key near {env.KEY_NEAR} {
			from 192.0.2.0/24 127.0.0.0/8 ::1
		}
		key far {env.KEY_FAR} {
			from 192.0.2.0/24 2001:db8::/32 127.0.0.2
		}
		key odd {env.KEY_ODD}`)...), p
}

// SetKeys sets KEY_ALICE, KEY_BOB and KEY_CLIENT for configurations that refer
// to them.
func SetKeys(t testing.TB) {
	t.Helper()
	setKeys(t, map[string]string{"ALICE": AliceKey, "BOB": BobKey, "CLIENT": ClientKey})
}

func setKeys(t testing.TB, keys map[string]string) {
	t.Helper()
	for name, key := range keys {
		t.Setenv("KEY_"+name, key)
	}
}

// KeysFile writes a file of keys, and returns its path and a function that
// replaces its lines.
func KeysFile(t testing.TB, lines ...string) (path string, rewrite func(lines ...string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys")
	rewrite = func(lines ...string) {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	rewrite(lines...)
	return path, rewrite
}
