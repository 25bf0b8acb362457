// Package litellm reads the configuration of the LiteLLM proxy, and returns the gateway that
// comes of it.
//
// It promises that clients keep the names of their models, and that each name has the
// targets, the order and the shares that the file gives it.
//
// It refuses models of services and endpoints that the gateway does not have, names that
// only LiteLLM resolves, and secrets that are in the file as clear text.
package litellm
