// Package core is the vocabulary of requests between the formats: what a
// request may ask for, in the words of no format.
//
// Each format has a reader, which takes a request of its own apart, and a
// writer, which writes one. A reader fills the Options and calls the methods of
// the Writer for the conversation and the tools, in the order of the body. JSON
// strings travel as raw slices of the body, still escaped.
//
// What becomes of a field is decided by two tables. A reader's Row names a field
// of its format, the Concept that the field becomes, and what it means to lose
// it. A writer's Outcome says which concepts its format can express, and which
// traits of a provider change that. Translation.Keep joins the two at run time:
// it keeps a field, reports its loss, or refuses the request. Join does the same
// for the tables that the gateway publishes.
package core
