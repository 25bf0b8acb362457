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

func (p *path) push(s step) {
	if p.len < maxSteps {
		p.steps[p.len] = s
	}
	p.len++
}

// String returns the path in its notation.
func (p *path) String() string {
	var text []byte
	for i, s := range p.steps[:min(p.len, maxSteps)] {
		if i > 0 && (s.name != "" || p.notation == Dots) {
			text = append(text, '.')
		}
		switch {
		case s.name != "":
			text = append(text, s.name...)
		case p.notation == Dots:
			text = strconv.AppendInt(text, int64(s.index), 10)
		default:
			text = append(strconv.AppendInt(append(text, '['), int64(s.index), 10), ']')
		}
	}
	return string(text)
}

// count returns how often the path has a member of the name.
func (p *path) count(name string) (n int) {
	for _, s := range p.steps[:min(p.len, maxSteps)] {
		if s.name == name {
			n++
		}
	}
	return n
}

// inTools reports whether the path is that of an element of tools.
func (p *path) inTools() bool {
	n := p.len
	return n >= 2 && n <= maxSteps && p.steps[n-1].name == "" && p.steps[n-2].name == "tools"
}
