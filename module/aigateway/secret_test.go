package aigateway

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestASecretShowsItselfToNobody(t *testing.T) {
	const text = "sk-secret"
	secret := Secret(text)
	held := struct {
		Key   Secret
		Inner *Secret
		List  []Secret
		Map   map[string]Secret
	}{secret, &secret, []Secret{secret}, map[string]Secret{"a": secret}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		assert.NotContains(t, fmt.Sprintf(verb, secret), text, verb)
		assert.NotContains(t, fmt.Sprintf(verb, held), text, verb)
		assert.NotContains(t, fmt.Sprintf(verb, held), "736b2d", verb)
	}
	raw, err := json.Marshal(held)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), text)
	entry, err := zapcore.NewJSONEncoder(zapcore.EncoderConfig{}).EncodeEntry(zapcore.Entry{}, []zap.Field{
		zap.Any("any", secret), zap.Any("held", held), zap.Stringer("stringer", secret), zap.Reflect("reflect", held),
	})
	require.NoError(t, err)
	assert.NotContains(t, entry.String(), text)
	assert.Equal(t, text, string(secret), "only a conversion reveals it")
}

func TestASecretIsGivenByReferenceAlone(t *testing.T) {
	for _, ref := range []string{
		"", "sk-literal", "{env.}", "{env.A}{env.B}", "x{env.A}", "{env.A}x", "{file.}", "{file.relative}", "{file.../up}",
		"{http.request.host}", "{system.hostname}", "{env.A", "env.A}", "{{env.A}}", "{env.A}\n",
	} {
		assert.ErrorIs(t, CheckSecretReference(ref), ErrSecretLiteral, "%q", ref)
		_, err := ResolveSecret(ref)
		assert.ErrorIs(t, err, ErrSecretLiteral, "%q", ref)
	}
	for _, ref := range []string{"{env.A}", "{env.OPENAI_API_KEY}", "{file./run/secrets/key}"} {
		assert.NoError(t, CheckSecretReference(ref))
	}
}

func TestAnEmptySecretIsAnError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return "{file." + path + "}"
	}
	t.Setenv("EMPTY", "")
	t.Setenv("BLANK", " \n")
	t.Setenv("FULL", " sk-value\n")
	for _, ref := range []string{"{env.EMPTY}", "{env.BLANK}", "{env.NO_SUCH_VARIABLE}", write("empty", "\n"), "{file." + dir + "/none}"} {
		_, err := ResolveSecret(ref)
		assert.Error(t, err, ref)
	}
	for _, ref := range []string{"{env.FULL}", write("full", "sk-value\r\n")} {
		secret, err := ResolveSecret(ref)
		require.NoError(t, err, ref)
		assert.Equal(t, "sk-value", string(secret))
	}
}

// A file that did not exist was once called empty, and the reason was in another line of
// the log.
func TestAnErrorOfAReferenceNamesTheReason(t *testing.T) {
	t.Setenv("BLANK", " ")
	for ref, want := range map[string]string{
		"{env.NO_SUCH_VARIABLE}": "resolving secret: {env.NO_SUCH_VARIABLE} is not set",
		"{env.BLANK}":            "resolving secret: {env.BLANK} is empty",
		"{file./no/such/file}":   "resolving secret: {file./no/such/file} cannot be read: open /no/such/file: no such file or directory",
	} {
		_, err := ResolveSecret(ref)
		assert.EqualError(t, err, want)
	}
}

// A large file was cut off at the start, and read whole when it was looked at again: its value
// changed by itself.
func TestASecretThatIsTooLargeIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(path, make([]byte, maxSecretFile+1), 0o600))
	_, err := ResolveSecret("{file." + path + "}")
	assert.ErrorContains(t, err, "is larger than")
}
