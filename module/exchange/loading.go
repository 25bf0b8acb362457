package exchange

import "context"

// Credentials describe the credentials of a transport to whoever configures it. The
// context in which the gateway loads a transport has them.
type Credentials struct {
	Provider string                 // the name of the provider, for logs
	Changed  func(reference string) // is called after each change of a credential, with its reference
}

type (
	credentialsKey struct{}
	startedKey     struct{}
)

// CredentialsKey returns the key of Credentials in a context.
func CredentialsKey() any { return credentialsKey{} }

// CredentialsFrom returns the credentials in ctx. Their Changed is never nil.
func CredentialsFrom(ctx context.Context) Credentials {
	if c, ok := ctx.Value(credentialsKey{}).(Credentials); ok {
		return c
	}
	return Credentials{Changed: func(string) {}}
}

// StartedKey returns the key of a channel in the context in which a configuration is
// loaded: a <-chan struct{} that is closed when the configuration starts. One that is only
// validated never starts.
func StartedKey() any { return startedKey{} }

// StartedFrom returns the channel in ctx, nil if there is none.
func StartedFrom(ctx context.Context) <-chan struct{} {
	started, _ := ctx.Value(startedKey{}).(<-chan struct{})
	return started
}
