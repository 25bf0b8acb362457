package people

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Hashing is how passwords are hashed, and compared with hashes.
type Hashing struct {
	Queue  *Queue // of the process; tests replace it
	Hasher Hasher
}

// Hasher is the interface of Caddy's modules for password hashes.
type Hasher interface {
	caddyauth.Hasher
	caddyauth.Comparer
}

// Argon2id is Caddy's module http.authentication.hashes.argon2id with parameters. The
// value is the text of the parameters in a hash. Caddy's module itself can only compare
// hashes, because it gets its parameters from flags of the command line.
type Argon2id string

// OWASP are the parameters that OWASP recommends for servers with little
// memory: 19 MiB and two rounds.
const OWASP Argon2id = "m=19456,t=2,p=1"

const (
	saltSize = 16
	hashSize = 32
)

// Hash returns the hash of a password with a new salt.
func (a Argon2id) Hash(password []byte) ([]byte, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	blank, _, err := caddyauth.DecodeHash(a.encode(salt))
	if err != nil {
		return nil, fmt.Errorf("preparing hash: %w", err)
	}
	return blank.Hash(password)
}

// validHash matches valid hashes. For others, Caddy's module is unsafe: it panics if a
// hash has zero rounds, and accepts any password for an empty hash.
var validHash = regexp.MustCompile(`^\$argon2id\$v=19\$m=[1-9]\d*,t=[1-9]\d*,p=[1-9]\d*\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{22,}$`)

// importedHash matches hashes of other products that a login accepts once, and replaces. The
// cost doubles the time with each step: 12 is about a quarter of a second, and 31 a day.
var importedHash = regexp.MustCompile(`^\$2[aby]\$(0[4-9]|1[0-2])\$[./A-Za-z0-9]{53}$`)

// ErrInvalidHash is the error of a comparison with something else than a hash.
var ErrInvalidHash = errors.New("neither an argon2id hash nor a bcrypt hash with a cost of 4 to 12")

// Compare reports whether hash is a hash of the password.
func (Argon2id) Compare(hash, password []byte) (bool, error) {
	switch {
	case validHash.Match(hash):
		return caddyauth.Argon2idHash{}.Compare(hash, password)
	case importedHash.Match(hash):
		return caddyauth.BcryptHash{}.Compare(hash, password)
	}
	return false, ErrInvalidHash
}

// FakeHash returns a hash that matches no password. Compare takes as long for it as for
// other hashes.
func (a Argon2id) FakeHash() []byte { return a.encode(make([]byte, saltSize)) }

// encode returns the text of a hash with a salt, in which all bytes of the hash are zero.
func (a Argon2id) encode(salt []byte) []byte {
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Appendf(nil, "$argon2id$v=19$%s$%s$%s", a, text(salt), text(make([]byte, hashSize)))
}

// hash returns the hash of a new password. It may wait, and the rights of the user may
// change in the meantime, so hash admits the call again.
func (p *People) hash(c *call.Call, password string) (hash string, err error) {
	busy := p.Queue.do(c.Context(), c.Principal(), func() {
		var raw []byte
		raw, err = p.Hasher.Hash([]byte(password))
		hash = string(raw)
	})
	if busy != nil {
		return "", busy
	}
	if err != nil {
		return "", err
	}
	return hash, c.Admit()
}

// verify reports whether the password is right and the user may log in. user is nil if
// the name does not exist. The check takes the same time in all cases, but for users with an
// imported hash, until their first login.
func (p *People) verify(ctx context.Context, who call.Principal, user *aigateway.User, password string) (right bool, err error) {
	hash := p.Hasher.FakeHash()
	if user != nil && user.Password != "" {
		hash = []byte(user.Password)
	}
	busy := p.Queue.do(ctx, who, func() {
		right, err = p.Hasher.Compare(hash, []byte(password))
	})
	if busy != nil {
		return false, busy
	}
	if err != nil && user != nil {
		p.Logger.Error("reading a stored password hash", zap.Int64("user_id", user.ID), zap.Error(err))
	}
	return right && user != nil && !user.Disabled, nil
}

// The bounds of passwords and names.
const (
	minPassword = 8    // bytes
	MaxPassword = 1024 // bytes
	maxName     = 64   // characters
)

var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

// NewName returns the folded name of a new user, if it is valid.
func NewName(s string) (string, error) {
	name := call.FoldName(s)
	if !username.MatchString(name) {
		return "", answer.Invalid("username must be 1 to 64 letters, digits or ._@+- with a letter or digit first")
	}
	return name, nil
}

// checkPassword checks a new password.
func checkPassword(name, password string) error {
	if len(password) < minPassword || len(password) > MaxPassword {
		return answer.Invalid("%s must be %d to %d bytes", name, minPassword, MaxPassword)
	}
	return nil
}

// CheckText checks a text that users see. It refuses control characters and other
// invisible characters, with which a text could look like another one.
func CheckText(name, text string) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.RuneCountInString(text) > maxName || strings.ContainsFunc(text, hidden) {
		return answer.Invalid("%s must be at most %d printable characters", name, maxName)
	}
	return nil
}
