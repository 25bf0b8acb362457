package guards

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// search is the search for rules in the texts of a view.
type search struct {
	rules   []rule
	walker  walker
	view    *aigateway.GuardView
	overlap int // of the window of a stream
	left    int // bytes of texts that may still be searched
	seams   int // the same for parts of texts that are joined

	blocked  string // the rule that blocks a text, "" for none
	edits    []aigateway.GuardEdit
	exceeded bool // a text was not searched as a whole
}

// match is what a rule has found.
type match struct {
	span
	rule *rule
}

// find returns the matches of rules in a text, of which it searches as much as is left: in the text as it
// is, and without its escapes.
func (s *search) find(text string, left *int, suits func(*rule) bool) (matches []match) {
	if s.blocked != "" {
		return nil
	}
	layers, all := layersOf(text), *left
	if len(layers) == 1 {
		return s.findIn(text, left, suits)
	}
	starts := make(map[ending]int)
	for depth := len(layers) - 1; depth >= 0; depth-- {
		rest := all // max_size counts a text once
		found := s.findIn(layers[depth], &rest, suits)
		for outer := depth - 1; outer >= 0; outer-- {
			originsInEscaped(layers[outer], spansOf(found))
		}
		for _, m := range found {
			if start, known := starts[ending{m.rule, m.end}]; known && (start == m.start || isEscaped(text, m.start, start)) {
				continue
			}
			starts[ending{m.rule, m.end}] = m.start
			matches = append(matches, m)
		}
		*left = rest
	}
	return matches
}

// ending is where a match of a rule ends.
type ending struct {
	rule *rule
	end  int
}

// isEscaped reports whether a part of a text is an escape without its first character, which looks like the
// beginning of a word.
func isEscaped(text string, start, end int) bool {
	if start == 0 {
		return false
	}
	_, size := escapeAt(text, start-1)
	return size > 0 && start-1+size == end
}

// findIn returns the matches of rules in a text as it is.
func (s *search) findIn(text string, left *int, suits func(*rule) bool) (matches []match) {
	form, whole := s.walker.normalize(text, left)
	s.exceeded = s.exceeded || !whole
	for i := range s.rules {
		r := &s.rules[i]
		if !suits(r) {
			continue
		}
		for place := range r.find(form) {
			if len(matches)+len(s.edits) == mostEdits {
				s.exceeded = true
				break
			}
			if matches = append(matches, match{place, r}); !r.masks && s.view.Phase == aigateway.GuardRequest {
				break // one is enough
			}
		}
	}
	s.walker.origins(text, spansOf(matches))
	return matches
}

// spansOf returns the places of matches.
func spansOf(matches []match) []*span {
	spans := make([]*span, len(matches))
	for i := range matches {
		spans[i] = &matches[i].span
	}
	return spans
}

// one searches one text.
func (s *search) one(i int) {
	t := &s.view.Texts[i]
	for _, m := range s.find(t.Text, &s.left, func(*rule) bool { return true }) {
		if !s.isOpen(t, m.span) {
			s.take(i, m.span, m.rule)
		}
	}
}

// isOpen reports whether a match touches an end behind which the text goes on, so that it may
// be none. It is found again if it fits into the overlap.
func (s *search) isOpen(t *aigateway.GuardText, place span) bool {
	return t.Before && place.start == 0 || t.More && place.end == len(t.Text) && visible(t.Text[place.start:place.end]) < s.overlap
}

// visible returns the number of characters of a text that have a width, each escape as one.
func visible(text string) (n int) {
	layers := layersOf(text)
	for _, r := range layers[len(layers)-1] {
		if r < utf8.RuneSelf || !aigateway.IsInvisible(r) {
			n++
		}
	}
	return n
}

// take takes over a match of a rule in a text.
func (s *search) take(i int, place span, r *rule) {
	if !r.masks && s.view.Phase != aigateway.GuardLog {
		s.blocked = r.name
		return
	}
	s.edits = append(s.edits, aigateway.GuardEdit{Text: i, Start: place.start, End: place.end, With: r.mask, Rule: r.name})
}

// isShort reports whether a match has an end that is near its beginning.
func (r *rule) isShort() bool { return r.longest >= 0 && r.longest <= mostMatch }

// part is a part of a text of a view.
type part struct {
	span
	text int
}

// joined searches the texts from first to end as one, for matches that are in several of them.
// A short match is near the end of one text and the beginning of the next, so that the middle of
// long texts is left out.
func (s *search) joined(first, end int) {
	reach := 0
	for i := range s.rules {
		if s.rules[i].isShort() {
			reach = max(reach, s.rules[i].longest)
		}
	}
	var seam, all []part
	for i := first; i < end; i++ {
		text := s.view.Texts[i].Text
		all = append(all, part{span{0, len(text)}, i})
		head, tail := endsOf(text, 2*reach)
		if head >= tail {
			seam = append(seam, all[len(all)-1])
			continue
		}
		s.seam(append(seam, part{span{0, head}, i}), (*rule).isShort)
		seam = []part{{span{tail, len(text)}, i}}
	}
	s.seam(seam, (*rule).isShort)
	isLong := func(r *rule) bool { return !r.isShort() }
	for i := range s.rules {
		if isLong(&s.rules[i]) {
			s.seam(all, isLong)
			return
		}
	}
}

// seam searches parts of texts as one text.
func (s *search) seam(parts []part, suits func(*rule) bool) {
	if len(parts) < 2 || s.blocked != "" {
		return
	}
	var whole strings.Builder
	starts, size := make([]int, 0, len(parts)+1), 0
	for _, p := range parts {
		size += p.end - p.start
	}
	whole.Grow(size)
	for _, p := range parts {
		starts = append(starts, whole.Len())
		whole.WriteString(s.view.Texts[p.text].Text[p.start:p.end])
	}
	starts = append(starts, whole.Len())
	for _, m := range s.find(whole.String(), &s.seams, suits) {
		i := sort.Search(len(parts), func(i int) bool { return starts[i+1] > m.start })
		for ; i < len(parts) && starts[i] < m.end; i++ {
			start, end := max(m.start, starts[i]), min(m.end, starts[i+1])
			if start >= end || start == m.start && end == m.end {
				continue // it is in one text, which was searched alone
			}
			shift := parts[i].start - starts[i]
			s.take(parts[i].text, span{start + shift, end + shift}, m.rule)
		}
	}
}

// endsOf returns the end of the first n visible characters of a text, and the beginning of the last n. An escape
// is one character, in all its layers.
func endsOf(text string, n int) (head, tail int) {
	layers := layersOf(text)
	plain := layers[len(layers)-1]
	first, last := span{0, headOf(plain, n)}, span{tailOf(plain, n), len(plain)}
	for _, layer := range slices.Backward(layers[:len(layers)-1]) {
		originsInEscaped(layer, []*span{&first, &last})
	}
	return first.end, last.start
}

// headOf returns the end of the first n visible characters of a text.
func headOf(text string, n int) int {
	table := classes()
	for offset, r := range text {
		if table.classAt(r) == invisible {
			continue
		}
		if n--; n < 0 {
			return offset
		}
	}
	return len(text)
}

// tailOf returns the beginning of the last n visible characters of a text.
func tailOf(text string, n int) int {
	table, start := classes(), len(text)
	for start > 0 && n > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
		if table.classAt(r) != invisible {
			n--
		}
	}
	return start
}
