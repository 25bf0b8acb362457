package aigateway

import (
	"context"
	"errors"
	"iter"
)

// KeySource is the interface of the modules in the namespace ai_gateway.keys. The
// gateway asks its sources in the order of the configuration; the first source
// that has a key decides.
//
// A source may also implement [PartialKeySource], [KeyLister], [LiveKeyLister],
// [KeyFinder], [SharedKeySource] and [TokenSource].
type KeySource interface {
	// Lookup returns the key with this digest, nil if the source has none. Every
	// request calls it, from many goroutines at once. It does no I/O.
	Lookup(Digest) *Key
}

// PartialKeySource is a KeySource that may lack some of its keys for a while, such
// as one that reads them from a database. While the keys are incomplete, the
// gateway asks clients with an unknown key to try again later, instead of
// refusing the key.
type PartialKeySource interface {
	KeySource

	// Complete reports whether Lookup finds every key of the source. It does no
	// I/O.
	Complete() bool
}

// KeyLister is an optional interface of a KeySource that can list its keys. The
// gateway refuses a configuration in which two of them have a key of the same ID
// or digest, or a key with an unknown limit.
type KeyLister interface {
	// All returns the keys in any order.
	All() iter.Seq[*Key]
}

// LiveKeyLister is a KeyLister whose keys may change while the configuration
// stays, such as one that follows a file.
type LiveKeyLister interface {
	KeyLister

	// CheckChanges adds a check of future keys. The source calls check with all of
	// its new keys, and keeps its old keys if any check returns an error. An error
	// about one key is a *KeyError. CheckChanges is called once for each
	// configuration that uses the source, while requests call Lookup.
	CheckChanges(check func(iter.Seq[*Key]) error)
}

// KeyFinder is an optional interface of a KeySource with too many keys for a list.
type KeyFinder interface {
	// KeyByID returns the key with an ID, nil if the source has none. It does no I/O.
	KeyByID(id string) *Key
	// Known returns the keys that Lookup finds, in any order. It does no I/O.
	Known() iter.Seq[*Key]
}

// AccessTokenPrefix begins the access tokens of programs that have signed in. They are keys, and are
// replaced so often that another gateway must find a new one at once.
const AccessTokenPrefix = "agent_"

// SharedKeySource is an optional interface of a KeySource whose keys other processes issue, too.
type SharedKeySource interface {
	KeySource

	// LookupIssued returns the key of an access token that Lookup does not find, since another
	// process may have issued it a moment ago; nil if none has. It returns nil at once for
	// all other credentials. It may wait for I/O until ctx ends, and no longer than a second;
	// calls at once share the I/O.
	LookupIssued(ctx context.Context, credential string) *Key
}

// TokenSource is an optional interface of a KeySource whose keys are signed tokens. The
// gateway asks it to verify credentials that no source finds. With such a source, a
// credential may have 16 KiB, else 256 bytes.
type TokenSource interface {
	KeySource

	// Verify returns the key of a token. Both results are nil for a credential that is no
	// token of the source. The error is a *TokenError for a token that is refused, or
	// ErrKeysUnavailable. Verify may do I/O until ctx ends, so the source remembers the
	// result for Lookup.
	Verify(ctx context.Context, credential string) (*Key, error)

	// Rights returns keys with the rights that tokens may have. The gateway refuses a
	// configuration in which one of them has an unknown limit.
	Rights() iter.Seq[*Key]
}

// IssuedSource is an optional interface of a TokenSource whose tokens clients get from an issuer of OAuth.
// The gateway names the issuer to clients that need a token.
type IssuedSource interface {
	TokenSource

	// IssuedBy returns the address of the issuer, as it is in the claim iss.
	IssuedBy() string
}

// TokenError is the error for a token of the source that is refused.
type TokenError struct {
	// Problem continues a sentence that the owner of the token reads: "it has expired". It
	// repeats nothing of the token.
	Problem   string
	Expired   bool // another token may be accepted, so that the client may try again
	Forbidden bool // the token is valid, and may not use the gateway
}

// Error returns a sentence about the token.
func (e *TokenError) Error() string { return "the token is not accepted: " + e.Problem }

// ErrKeysUnavailable is the error of a TokenSource that cannot read the keys of its issuer.
var ErrKeysUnavailable = errors.New("the keys of the issuer cannot be read")

// KeyError is the error of a check that refuses one key of several.
type KeyError struct {
	ID      string // of the key
	Problem string // continues the sentence that begins with the key: "is defined twice"
}

// Error returns a sentence about the key.
func (e *KeyError) Error() string { return "key '" + e.ID + "' " + e.Problem }
