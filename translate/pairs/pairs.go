// Package pairs carries requests and answers from one format to another.
//
// It promises that no field of a request is dropped in silence: it is carried
// over, reported as a loss, or refused. What becomes of which field is the join of
// two tables, those of the client's and of the provider's format; tests hold the
// conversions to it.
package pairs
