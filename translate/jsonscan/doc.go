// Package jsonscan reads JSON strictly with a cursor over one byte slice, and
// writes JSON by appending to byte slices.
//
// It promises that a document read to Finish is valid JSON in valid UTF-8, that
// no object read member by member has a member twice (letter case ignored), that
// raw values are slices of the source, byte for byte, and that nothing is
// allocated for ordinary documents. Its time is linear in the document.
//
// It refuses what some parsers let pass: invalid UTF-8, control characters in
// strings, containers nested deeper than MaxDepth, anything behind the value.
// One byte order mark is tolerated before it. A lone surrogate escape is valid
// and decodes to U+FFFD. Objects that are skipped are not searched for members
// that occur twice.
package jsonscan
