// Package responses is the wire format of POST /v1/responses: requests, answers
// and event streams.
//
// It promises to read strictly what the format states and to leave alone what it
// does not: items, parts, tools and events of unknown types pass, for the set of
// each is open. It keeps no state: what a request needs of earlier responses is
// found, so that it can be refused, and never made up.
package responses
