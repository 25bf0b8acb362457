// Package responses describes the wire format of POST /v1/responses.
//
// Package request reads and writes its requests, package answer its answers and
// event streams, and package settings has what an answer repeats of its request. None keeps
// state: a request that needs what earlier responses stored is detected, so that it can be
// refused, and its state is never made up.
package responses
