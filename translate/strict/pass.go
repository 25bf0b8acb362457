// Package strict is the frame of the one strict pass over a request body. A Body reads the
// fields of the body, a Pass the value of a field and what is in it, and Faults keeps the path
// of the value and the first fault found.
//
// Which of several faults is reported does not depend on the order of the fields in the
// body: faults of the JSON itself, repeated members included, come first, in byte order;
// then those of the fields, in the order of their table. A pass never changes the body,
// never repeats text, prompts or tool inputs in a message, and allocates nothing for a
// body without a fault but the list of its long strings.
package strict

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Pass is what the checks of a body have in common: the cursor at the value that is being read, with the
// path of the value, and what they have found. Each of its checks consumes the value.
type Pass struct {
	JSON jsonscan.Cursor // at the value; Member enters objects in its place
	Faults
	View  translate.View // the properties of the body that have been read
	Notes Notes          // of the checks of the format
	File  FileData       // in the object that is being read

	body        []byte
	otherModels string // the first field that names further models
}

// Notes are what the checks of a format note for each other, or for the end of the pass, each a
// bit of the format's choice.
type Notes uint8

// Since returns the part of the body from an offset up to the cursor.
func (p *Pass) Since(start int) []byte { return p.body[start:p.JSON.Offset()] }

// push appends a member of the object at the path.
//
// After an error of the cursor the path no longer changes, so that it remains the path
// of the error while the open containers are left.
func (p *Pass) push(name string) {
	if p.JSON.Err() == nil {
		p.path.push(step{name: name})
	}
}

// pushIndex appends the index of an element of the array at the path.
func (p *Pass) pushIndex(i int) {
	if p.JSON.Err() == nil {
		p.path.push(step{index: i})
	}
}

// pop removes the last step of the path.
func (p *Pass) pop() {
	if p.JSON.Err() == nil {
		p.path.len--
	}
}

// Member is that of the cursor. It also notes the type of a tool at the path, and searches
// the tools in an object within the body, so that the pass of no format can forget either.
// What a pass skips or copies as a whole, such as schemas and arguments, is not searched.
func (p *Pass) Member() bool {
	if !p.JSON.Member() {
		return false
	}
	switch name := p.JSON.Name(); {
	case isType(name) && p.path.inTools():
		value := jsonscan.Again(p.body[p.JSON.Offset():])
		if asksModels(value.StringOrSkip()) {
			p.noteOtherModels(p.path.String())
		}
	case isTools(name) && p.path.len > 0:
		p.searchToolsAhead()
	}
	return true
}

// Elements reads an array; each reads one of the elements. It returns their number. For a
// value that is not an array, it notes the requirement what and returns -1.
func (p *Pass) Elements(what string, each func(i int)) (n int) {
	if !p.JSON.EnterArray() {
		p.Refuse(what)
		return -1
	}
	for ; p.JSON.Element(); n++ {
		p.pushIndex(n)
		each(n)
		p.pop()
	}
	return n
}
