package gatewaytest

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestACanaryIsFoundInEveryDisguise(t *testing.T) {
	c := NewCanaries()
	secret := c.Secret("upstream-key")
	c.Secret("prompt")
	core := secret[len("sk-canary-upstream-key-"):]
	for name, text := range map[string]string{
		"in clear":       `{"authorization":["Bearer ` + secret + `"]}`,
		"upper case":     strings.ToUpper(secret),
		"shortened":      "sk-…" + core,
		"hexadecimal":    hex.EncodeToString([]byte(secret)),
		"base64":         base64.StdEncoding.EncodeToString([]byte(secret)),
		"basic, 1 ahead": base64.StdEncoding.EncodeToString([]byte("u" + secret)),
		"basic, 2 ahead": base64.StdEncoding.EncodeToString([]byte("u:" + secret)),
		"base64, URL":    base64.URLEncoding.EncodeToString([]byte(secret)),
	} {
		assert.Equal(t, []string{"upstream-key"}, c.Find([]byte(text)), name)
	}
	assert.Empty(t, c.Find([]byte("sk-canary-upstream-key-")))
	assert.Equal(t, secret, c.Secret("upstream-key"))
}

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) FailNow()              { r.failed = true }

func TestAssertionsOverCanariesFail(t *testing.T) {
	c := NewCanaries()
	leak := "log line with " + c.Secret("key")
	for name, tc := range map[string]struct {
		assert func(testing.TB)
		fails  bool
	}{
		"absent, found":   {func(t testing.TB) { c.AssertAbsent(t, "log", leak) }, true},
		"absent, allowed": {func(t testing.TB) { c.AssertAbsent(t, "log", leak, "key") }, false},
		"absent, clean":   {func(t testing.TB) { c.AssertAbsent(t, "log", strings.NewReader("clean")) }, false},
		"present":         {func(t testing.TB) { c.AssertPresent(t, "log", []byte(leak), "key") }, false},
		"present, not":    {func(t testing.TB) { c.AssertPresent(t, "log", "clean", "key") }, true},
	} {
		r := &recorder{TB: t}
		tc.assert(r)
		assert.Equal(t, tc.fails, r.failed, name)
	}
}
