// Package core defines the vocabulary of requests between the formats: what a
// request may ask for, independent of any format.
//
// Each format has a reader, which parses requests of the format, and a writer, which
// writes them. A reader fills the Options and calls the methods of the Writer for the
// conversation and the tools, in the order of the body. JSON strings are passed as
// raw slices of the body, still escaped.
//
// Two tables decide what becomes of a field. A Row of the client's format names a
// field, the Concept that the field becomes, and the consequence of its loss. It also says
// what the strict pass demands of the member, so that a member of requests is described
// in one place; see NewRows. An Outcome of the writer's table defines whether its format
// can express a concept, and which traits of a provider change that. Translation.Keep
// joins the two tables at run time: it keeps a field, reports its loss, or refuses the
// request. Join does the same for the tables that the gateway publishes.
//
// The files are sorted by who needs them:
//
//   - the tables: concept.go, row.go, row_member.go (what a row demands of a member),
//     row_objects.go (the objects that follow from the rows), outcome.go, rules.go (what
//     several tables share), field.go (the tables of a reader and a writer joined);
//   - the reader: reader.go, and the files that begin with reader_;
//   - the writer: writer.go, and the files that begin with writer_;
//   - both: translation.go (what becomes of a concept), options.go, media.go (the concepts of
//     media types), callids.go (ids of calls that a service accepts), and render.go (one
//     translation from begin to end), request.go, measure.go;
//   - requests that are not translated: unaccepted.go and unaccepted_thinking.go (what a
//     provider of the same format refuses by its traits), stated.go.
package core
