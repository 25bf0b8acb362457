package strict

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Value is the value of a body that is being read: the cursor, with the path of the value
// and checks of it, each of which consumes the value.
type Value struct {
	JSON jsonscan.Cursor // at the value; Member enters objects in its place
	Faults
	body        []byte
	otherModels string // the first field that names further models
}

// push appends a member of the object at the path.
//
// After an error of the cursor the path no longer changes, so that it remains the path
// of the error while the open containers are left.
func (v *Value) push(name string) {
	if v.JSON.Err() == nil {
		v.path.push(step{name: name})
	}
}

// pushIndex appends the index of an element of the array at the path.
func (v *Value) pushIndex(i int) {
	if v.JSON.Err() == nil {
		v.path.push(step{index: i})
	}
}

// pop removes the last step of the path.
func (v *Value) pop() {
	if v.JSON.Err() == nil {
		v.path.len--
	}
}

// Member is that of the cursor. It also notes the type of a tool at the path, and searches
// the tools in an object within the body, so that the pass of no format can forget either.
// What a pass skips or copies as a whole, such as schemas and arguments, is not searched.
func (v *Value) Member() bool {
	if !v.JSON.Member() {
		return false
	}
	switch name := v.JSON.Name(); {
	case isType(name) && v.path.inTools():
		value := jsonscan.Again(v.body[v.JSON.Offset():])
		if asksModels(value.StringOrSkip()) {
			v.noteOtherModels(v.path.String())
		}
	case isTools(name) && v.path.len > 0:
		v.searchToolsAhead()
	}
	return true
}

// Elements reads an array; each reads one of the elements. It returns their number. For a
// value that is not an array, it notes the requirement what and returns -1.
func (v *Value) Elements(what string, each func(i int)) (n int) {
	if !v.JSON.EnterArray() {
		v.Refuse(what)
		return -1
	}
	for ; v.JSON.Element(); n++ {
		v.pushIndex(n)
		each(n)
		v.pop()
	}
	return n
}
