package jsonscan

import (
	"errors"
	"fmt"
)

// SyntaxError reports a document that is not JSON in UTF-8, or that is nested deeper than
// MaxDepth. Its texts never repeat the document.
type SyntaxError struct {
	Offset int    // of the first invalid byte, counted from 0
	Reason string // a constant text
}

// Error returns a message with the position of the error.
func (e *SyntaxError) Error() string {
	if e.TooDeep() {
		return fmt.Sprintf("nested too deeply at byte %d", e.Offset)
	}
	return fmt.Sprintf("not valid JSON at byte %d", e.Offset)
}

// TooDeep reports whether the document may be JSON, but is nested deeper than
// MaxDepth.
func (e *SyntaxError) TooDeep() bool { return e.Reason == whyDepth }

// DuplicateError reports a member that occurs twice in one object, letter case
// ignored unless the object was entered by EnterMap.
type DuplicateError struct {
	Offset int    // of the second occurrence's name, counted from 0
	Name   string // the decoded name at that offset
	First  string // the decoded name at the first occurrence
	InMap  bool   // the names of the object are case-sensitive
}

// Error returns a message with the position of the second occurrence. It leaves out the
// name, since clients choose names.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate object member at byte %d", e.Offset)
}

// errMisuse reports methods called in a wrong order, which is a bug of the caller, not of
// the document.
var errMisuse = errors.New("jsonscan: a value was read twice or not at all")

// The reasons of syntax errors.
const (
	whyEnd      = "unexpected end"
	whyValue    = "a value is expected"
	whyName     = "a member name is expected"
	whyColon    = "a colon is expected"
	whyNext     = "a comma or the end of the container is expected"
	whyLiteral  = "an unknown word"
	whyNumber   = "a malformed number"
	whyEscape   = "a malformed escape"
	whyControl  = "a control character in a string"
	whyUTF8     = "invalid UTF-8"
	whyDepth    = "nested too deeply"
	whyTrailing = "something follows the value"
	whyLength   = "too long"
)

// Broken returns the error of a cursor if it reports that the document is not JSON,
// otherwise nil: repeated members do not invalidate an answer.
func Broken(err error) error {
	if err == nil {
		return nil // avoids the allocation of errors.As
	}
	if twice := (*DuplicateError)(nil); errors.As(err, &twice) {
		return nil
	}
	return err
}
