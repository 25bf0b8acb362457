// Package pairs translates requests and answers from one format to another.
//
// No field of a request is dropped in silence: it is carried over, reported as a loss,
// or refused. The table of a pair, which lists the fate of every field, is the join of
// the tables of the client's format and of the provider's format. Tests compare the
// translation with the table.
package pairs
