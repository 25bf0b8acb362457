package exchange

import "context"

// Credentials describe the credentials of a transport to whoever configures it. The
// context in which the gateway loads a transport has them.
type Credentials struct {
	Provider string                 // the name of the provider, for logs
	Changed  func(reference string) // is called after each change of a credential, with its reference
}

type credentialsKey struct{}

// CredentialsKey returns the key of Credentials in a context.
func CredentialsKey() any { return credentialsKey{} }

// CredentialsFrom returns the credentials in ctx. Their Changed is never nil.
func CredentialsFrom(ctx context.Context) Credentials {
	if c, ok := ctx.Value(credentialsKey{}).(Credentials); ok {
		return c
	}
	return Credentials{Changed: func(string) {}}
}
