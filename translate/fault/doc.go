// Package fault holds the errors that clients read, and reads the errors that
// providers send.
//
// A message never repeats a prompt, a key or the address of a provider. Words of a
// provider are repeated only if they are fit to be shown, and only to the client:
// the log gets their length. Errors about the gateway's own account with a provider
// become faults of the provider.
package fault
