package strict

import "strconv"

// Notation is how a format writes the indices of a path.
type Notation uint8

// The notations.
const (
	Dots     Notation = iota // messages.0.content.1.text
	Brackets                 // messages[0].content[1].text
)

// maxSteps bounds the length of paths. No element that the gateway checks is deeper, and
// a longer path that is cut off is still a path to an outer element.
const maxSteps = 16

// step is a member's name or, when name is empty, an element's index.
type step struct {
	name  string
	index int
}

type path struct {
	steps    [maxSteps]step
	len      int
	notation Notation
}

// Push appends a member of the object at the path.
//
// After an error of the cursor the path no longer changes, so that it remains the path
// of the error while the open containers are left.
func (p *Pass) Push(name string) {
	if p.Err() == nil {
		p.path.push(step{name: name})
	}
}

// PushIndex appends the index of an element of the array at the path.
func (p *Pass) PushIndex(i int) {
	if p.Err() == nil {
		p.path.push(step{index: i})
	}
}

// Pop removes the last step of the path.
func (p *Pass) Pop() {
	if p.Err() == nil {
		p.path.len--
	}
}

func (p *path) push(s step) {
	if p.len < maxSteps {
		p.steps[p.len] = s
	}
	p.len++
}

// open returns the steps that are kept.
func (p *path) open() []step { return p.steps[:min(p.len, maxSteps)] }

// String returns the path in its notation.
func (p *path) String() string {
	var text []byte
	for i, s := range p.open() {
		if i > 0 && (s.name != "" || p.notation == Dots) {
			text = append(text, '.')
		}
		text = p.appendStep(text, s)
	}
	return string(text)
}

func (p *path) appendStep(text []byte, s step) []byte {
	if s.name != "" {
		return append(text, s.name...)
	}
	if p.notation == Dots {
		return strconv.AppendInt(text, int64(s.index), 10)
	}
	text = append(text, '[')
	text = strconv.AppendInt(text, int64(s.index), 10)
	return append(text, ']')
}
