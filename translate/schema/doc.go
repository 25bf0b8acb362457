// Package schema describes the objects of requests: which members the objects at one
// place have, by their types, and which of these they must have.
//
// A Table is the one list of the members of its objects. It follows from the rows of a format
// (core.NewRows). The strict pass checks objects against the table; the reader finds members in
// it, and reports those that have no meaning in an object of its type.
package schema
