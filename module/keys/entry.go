package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// recommendedLength is the length of a key in bytes below which there is a warning.
const recommendedLength = 20

// digestPrefix precedes the hexadecimal digest of a key.
const digestPrefix = "sha256:"

// Entry is one key of the configuration.
type Entry struct {
	// Name identifies the key in logs and placeholders: 1 to 64 letters,
	// digits or ._@+- with a letter or digit first. Names such as key_1 and 1 are
	// reserved for the keys of users. It is not secret.
	Name string `json:"name"`

	// Key is a reference to the key, {env.NAME} or {file./absolute/path}, or
	// "sha256:" and the SHA-256 digest of the key in hexadecimal. A key has 8
	// to 256 printable ASCII characters, without spaces, and without commas, which
	// separate the values of a header. A key of less than 20 characters causes a
	// warning.
	Key string `json:"key"`

	// Models are the model names, as clients use them, that the key may use. A
	// "*" matches any characters. Default: all models.
	Models []string `json:"models,omitempty"`

	// MCP are the servers of the Model Context Protocol that the key may use: github for all that the
	// server offers, github/search_* for some of its tools. Default: none.
	MCP []string `json:"mcp,omitempty"`

	// Networks are the IP addresses, and the networks in CIDR notation, of the clients
	// that may use the key; other clients get status 403. Behind a proxy, set
	// Caddy's trusted_proxies, and also trusted_proxies_strict, without which
	// clients can forge their addresses. Default: all addresses.
	Networks []string `json:"from,omitempty"`

	// Expires is the time from which the key is refused: an RFC 3339 time,
	// or YYYY-MM-DD for the start of that day in UTC. Default: never.
	Expires string `json:"expires,omitempty"`

	// Owner is a name for the owner of the key, in the form of Name. Logs show it,
	// and the placeholder {http.ai_gateway.key_owner}. Default: none.
	Owner string `json:"owner,omitempty"`

	// Limit is the name of the key's limit, which the site or the global option
	// defines. Logs show it, and the placeholder {http.ai_gateway.limit}.
	// Default: none.
	Limit string `json:"limit,omitempty"`

	// Tags are tags that every request with the key has: "team=search". Their names are
	// among those of the site. Default: none.
	Tags []string `json:"tags,omitempty"`

	// Disabled refuses the key, as if it had expired. Default: false.
	Disabled bool `json:"disabled,omitempty"`
}

var (
	errName   = errors.New("the name of a key is 1 to 64 letters, digits or ._@+- with a letter or digit first")
	errStored = errors.New("names such as key_1 and 1 are reserved for the keys of users: choose another name")
	errLabel  = errors.New("an owner or a limit has 1 to 64 letters, digits or ._@+- with a letter or digit first")
	errKey    = errors.New("a key is {env.NAME}, {file./absolute/path} or sha256: and its SHA-256 digest in hexadecimal; a literal key is refused, and {$NAME} inserts one")
	errDigest = errors.New("a SHA-256 digest is sha256: and 64 hexadecimal digits")
)

// check returns an error if e is invalid in itself. It reads no secret. Its errors do
// not repeat a value, because a misplaced value may be a key.
func (e Entry) check() error {
	if !aigateway.IsName(e.Name) {
		return errName
	}
	if _, isStored := aigateway.StoredKeyNumber(e.Name); isStored {
		return errStored
	}
	if err := checkKey(e.Key); err != nil {
		return err
	}
	for _, label := range [...]string{e.Owner, e.Limit} {
		if label != "" && !aigateway.IsName(label) {
			return errLabel
		}
	}
	return e.restrict(new(aigateway.Key))
}

// restrict sets the restrictions of a key.
func (e Entry) restrict(key *aigateway.Key) (err error) {
	if key.Models, err = parseAll(e.Models, aigateway.ParsePattern); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if key.Models, err = aigateway.WithServers(key.Models, e.MCP); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	if key.Networks, err = parseAll(e.Networks, aigateway.ParseNetwork); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if key.Tags, err = parseAll(e.Tags, aigateway.ParseTag); err != nil {
		return fmt.Errorf("tags: %w", err)
	}
	if key.Tags, err = aigateway.SortTags(key.Tags); err != nil {
		return fmt.Errorf("tags: %w", err)
	}
	if e.Expires == "" {
		return nil
	}
	if key.Expires, err = aigateway.ParseDate(e.Expires); err != nil {
		return fmt.Errorf("expires: %w, not '%s'", err, e.Expires)
	}
	return nil
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

// key returns the key of an entry that has passed check, without its digest.
func (e Entry) key() (*aigateway.Key, error) {
	key := &aigateway.Key{ID: e.Name, Owner: e.Owner, Limit: e.Limit, Disabled: e.Disabled}
	return key, e.restrict(key)
}

// digestOf returns the digest of a key.
func digestOf(secret aigateway.Secret) (aigateway.Digest, error) {
	return sha256.Sum256([]byte(secret)), aigateway.CheckAPIKey(secret)
}

func parseDigest(s string) (aigateway.Digest, error) {
	var d aigateway.Digest
	raw, err := hex.DecodeString(strings.TrimPrefix(s, digestPrefix))
	if err != nil || len(raw) != len(d) {
		return d, errDigest
	}
	return aigateway.Digest(raw), nil
}

// parseAll parses every text. Without texts, it returns nil.
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
