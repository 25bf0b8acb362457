// Package responses describes the wire format of POST /v1/responses.
//
// Package request reads and writes its requests, package answer its answers and
// event streams. Neither keeps state: a request that needs what earlier responses
// stored is detected, so that it can be refused, and its state is never made up.
package responses
