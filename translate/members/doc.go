// Package members reads the objects of answers by tables. Those of requests, which have types
// and are checked, follow from the rows of a format (strict.Table).
//
// A Table lists the members of one kind of object, declared once, as variables of the
// package that reads the object:
//
//	var (
//		part     = members.New("content[*].")
//		partType = part.Maybe(members.String, "type")
//		partText = part.Of(members.String, "text")
//		_        = part.Skip("id index")
//	)
//
// An Object reads an object at a cursor in one pass, without allocation, and returns the
// values of the members raw or by their positions in the document. What no row of the
// table allows is reported to a Losses, or ignored without one: so the parser of a format,
// which must report every loss, and its observer, which must not fail, share the tables.
package members
