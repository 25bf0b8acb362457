package core

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// maxSteps is the greatest depth of a Place. The deepest element of any format is a
// text in a document in the result of a tool in a message.
const maxSteps = 4

// Place is the position of a reader in the body: an element of an array, which may be
// nested in an element of another. Paths are built only for reports.
type Place struct {
	steps    [maxSteps]step
	depth    int
	notation strict.Notation
}

// step is an element of an array.
type step struct {
	list  string // the path from the outer element to the array
	index int
}

// Enter enters an array, in front of its first element. It reports false, and does
// nothing, if the array is nested more deeply than in any valid request.
func (p *Place) Enter(list string) bool {
	if p.depth == maxSteps {
		return false
	}
	p.steps[p.depth] = step{list, -1}
	p.depth++
	return true
}

// Next moves to the next element of the innermost array.
func (p *Place) Next() { p.steps[p.depth-1].index++ }

// Leave leaves the innermost array.
func (p *Place) Leave() { p.depth-- }

// Index returns the index of the element of the outermost array.
func (p *Place) Index() int { return p.steps[0].index }

// path returns the path of a member of the element.
func (p *Place) path(member string) string { return string(p.append(nil, member, false)) }

// pathOf returns the path of the field of a row.
func (p *Place) pathOf(r *Row) string {
	place := p.upTo(r)
	return place.path(r.place.member)
}

// upTo returns the place at the depth of the row's path, which may be less deep than
// the reader: the path of a turn ends at the turn, even while a part is read.
func (p *Place) upTo(r *Row) Place {
	place := *p
	if r.place.depth <= 1 && !r.place.nested {
		place.depth = min(place.depth, r.place.depth)
	}
	return place
}

// append appends the path of a member of the element, or of the element itself if
// member is "". If general is set, every index of the path is "*".
func (p *Place) append(dst []byte, member string, general bool) []byte {
	for i := range p.depth {
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = append(dst, p.steps[i].list...)
		index := "*"
		if !general {
			index = strconv.Itoa(p.steps[i].index)
		}
		if p.notation == strict.Dots {
			dst = append(append(dst, '.'), index...)
		} else {
			dst = append(append(append(dst, '['), index...), ']')
		}
	}
	if p.depth > 0 && member != "" {
		dst = append(dst, '.')
	}
	return append(dst, member...)
}
