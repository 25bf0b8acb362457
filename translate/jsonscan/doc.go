// Package jsonscan reads JSON strictly with a cursor over one byte slice, and
// writes JSON by appending to byte slices.
//
// A document read to Finish is valid JSON in valid UTF-8. No object read member by
// member has a repeated member (letter case ignored). Raw values are slices of the
// source, byte for byte. Ordinary documents cost no allocation, and the time is linear
// in the length of the document.
//
// Unlike some parsers, the cursor refuses invalid UTF-8, control characters in strings,
// containers nested deeper than MaxDepth, and anything behind the value. One byte order
// mark is accepted before the value. A lone surrogate escape is valid and decodes to
// U+FFFD. Objects that are skipped are not searched for repeated members.
package jsonscan
