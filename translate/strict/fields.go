package strict

import (
	"slices"
	"strings"
)

// Field is a top-level member of a request that a strict pass reads.
type Field struct {
	Name    string
	Other   string // another spelling of the name; "" for none
	Check   Check  // nil for a value of any kind
	Objects *Table // of the objects in the value, nil for none
	Must    bool   // a request must have the field
	Null    bool   // the check reads a null as well
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

// Fields is the table of the fields of a format, at most 64, in the order in which
// faults are reported. Members that are not in it are skipped.
type Fields []Field

func index[T string | []byte](fields Fields, name T) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(name) || f.Other != "" && f.Other == string(name) })
}
