package strict

import (
	"slices"
	"strings"
)

// Field is a top-level member of a request that a strict pass reads.
type Field struct {
	Name  string
	Other string // another spelling of the name; "" for none
	Check Check
	Inner []string // of Options and Object: the members that are objects of options too
}

// twoSpellings is the message about a member that an object has in two spellings.
const twoSpellings = "must be sent in one spelling only"

// spelling returns the requirement on the letter case of the name.
func (f *Field) spelling() string {
	if strings.ToLower(f.Name) == f.Name {
		return "must be written in lower case"
	}
	return "must be written with these capital letters"
}

// Check is a requirement on the value of a field. A null means that the field is absent.
type Check uint8

// The checks.
const (
	ByCaller      Check = iota // the caller reads the value
	Model                      // the name of a model, kept in the View
	Stream                     // whether to stream, kept in the View
	StreamOptions              // the options of the stream, or null, kept in the View
	Number
	Integer // however it is written, and however large it is
	Flag
	Text
	Texts   // an array of strings
	Stop    // a string, or an array of strings
	Typed   // an object whose type is a string
	Map     // an object whose names the client chooses
	AnyMap  // any value; the names of an object are chosen by the client
	Object  // an object without repeated members
	Options // any value; an object must not have repeated members
	Tier    // any value; the service tier is kept in the View
)

// Fields is the table of the fields of a format, at most 64, in the order in which
// faults are reported. Members that are not in it are skipped.
type Fields []Field

func index[T string | []byte](fields Fields, name T) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(name) || f.Other != "" && f.Other == string(name) })
}
