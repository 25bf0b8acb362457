package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The bounds of a key in bytes.
const (
	shortest  = 8
	longest   = 256
	guessable = 20 // below this a warning is logged
)

// digestPrefix stands before the digest of a key in hexadecimal.
const digestPrefix = "sha256:"

// Entry is one key of the configuration.
type Entry struct {
	// Name identifies the key in logs and placeholders: 1 to 64 letters,
	// digits or ._@+- with a letter or digit first. Names such as key_1 are those
	// of the keys that users make, and refused. It is not secret.
	Name string `json:"name"`

	// Key is a reference to the key, {env.NAME} or {file./absolute/path}, or
	// "sha256:" and the SHA-256 digest of the key in hexadecimal. A key has 8
	// to 256 printable ASCII characters, no spaces and no commas, which separate
	// the values of a header; below 20 a warning is logged.
	Key string `json:"key"`

	// Models are the model names, as clients use them, that the key may use;
	// "*" matches anything. Default: all.
	Models []string `json:"models,omitempty"`

	// From are the addresses from which the key may be used, each an IP address
	// or a network in CIDR notation; a client behind a proxy has the address
	// that Caddy's trusted_proxies say, which clients can forge unless
	// trusted_proxies_strict is set too. Elsewhere the key is answered 403.
	// Default: anywhere.
	From []string `json:"from,omitempty"`

	// Expires is the moment from which the key is refused: an RFC 3339 time,
	// or YYYY-MM-DD for the start of that day in UTC. Default: never.
	Expires string `json:"expires,omitempty"`

	// Owner is whom the key belongs to, and Limit the name of the limit that it
	// is subject to, both of the same form as a name. The limit is one of the
	// site or of the global option. They are shown in logs, and are the
	// placeholders {http.ai_gateway.key_owner} and {http.ai_gateway.limit}.
	// Default: none.
	Owner string `json:"owner,omitempty"`
	Limit string `json:"limit,omitempty"`

	// Disabled refuses the key, as if it had expired, without forgetting it.
	Disabled bool `json:"disabled,omitempty"`
}

var (
	entryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

	errName   = errors.New("the name of a key is 1 to 64 letters, digits or ._@+- with a letter or digit first")
	errStored = errors.New("key_1, key_2 and so on are the names of the keys that users make: name this one otherwise")
	errLabel  = errors.New("an owner or a limit has 1 to 64 letters, digits or ._@+- with a letter or digit first")
	errKey    = errors.New("a key is given as {env.NAME}, as {file./absolute/path} or as sha256: and its SHA-256 digest in hexadecimal, never as the key itself, which is also what {$NAME} becomes")
	errDigest = errors.New("a SHA-256 digest is sha256: and 64 hexadecimal digits")
	errValue  = fmt.Errorf("a key has %d to %d printable ASCII characters, without spaces or commas", shortest, longest)
)

// check reports what is wrong with e as it is written. It reads no secret, and
// no error repeats a value: what stands at the wrong place may be a key.
func (e Entry) check() error {
	if !entryName.MatchString(e.Name) {
		return errName
	}
	if aigateway.IsStoredKeyID(e.Name) {
		return errStored
	}
	if err := checkKey(e.Key); err != nil {
		return err
	}
	for _, label := range [...]string{e.Owner, e.Limit} {
		if label != "" && !entryName.MatchString(label) {
			return errLabel
		}
	}
	return e.restrict(new(aigateway.Key))
}

// restrict sets what bounds the use of a key.
func (e Entry) restrict(key *aigateway.Key) (err error) {
	if key.Models, err = parseAll(e.Models, aigateway.ParsePattern); err != nil {
		return err
	}
	if key.Networks, err = parseAll(e.From, aigateway.ParseNetwork); err != nil {
		return err
	}
	if e.Expires != "" {
		key.Expires, err = aigateway.ParseDate(e.Expires)
	}
	return err
}

func checkKey(s string) error {
	if strings.HasPrefix(s, digestPrefix) {
		_, err := parseDigest(s)
		return err
	}
	if aigateway.CheckSecretReference(s) != nil {
		return errKey
	}
	return nil
}

// resolve makes the key of an entry that passed check. The length is that of
// the key in bytes, 0 when only the digest is known.
func (e Entry) resolve() (key *aigateway.Key, length int, err error) {
	key = &aigateway.Key{ID: e.Name, Owner: e.Owner, Limit: e.Limit, Disabled: e.Disabled}
	if key.Digest, length, err = digest(e.Key); err != nil {
		return nil, 0, err
	}
	return key, length, e.restrict(key)
}

func digest(s string) (aigateway.Digest, int, error) {
	if strings.HasPrefix(s, digestPrefix) {
		d, err := parseDigest(s)
		return d, 0, err
	}
	secret, err := aigateway.ResolveSecret(s)
	if err != nil {
		return aigateway.Digest{}, 0, err
	}
	value := string(secret)
	unfit := func(r rune) bool { return r <= ' ' || r > '~' || r == ',' } // for one value of a header
	if len(value) < shortest || len(value) > longest || strings.ContainsFunc(value, unfit) {
		return aigateway.Digest{}, 0, errValue
	}
	return sha256.Sum256([]byte(value)), len(value), nil
}

func parseDigest(s string) (aigateway.Digest, error) {
	var d aigateway.Digest
	raw, err := hex.DecodeString(strings.TrimPrefix(s, digestPrefix))
	if err != nil || len(raw) != len(d) {
		return d, errDigest
	}
	return aigateway.Digest(raw), nil
}

// parseAll parses every text, and returns nil for none.
func parseAll[T any](texts []string, parse func(string) (T, error)) ([]T, error) {
	var list []T
	for _, text := range texts {
		item, err := parse(text)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}
