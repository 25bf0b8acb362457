package guards

import (
	"iter"
	"regexp"
	"slices"
)

// The lengths of card numbers, in digits.
const (
	fewestCardDigits = 13
	mostCardDigits   = 19
)

// cards finds the numbers of payment cards: of a known issuer, with the right length and the
// right check digit (ISO/IEC 7812). They begin and end where a group of digits does.
func cards(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for run := range runs(text, &digitSet, &tightSet, 1) {
			w := cardWindow{text: text, next: run.start, limit: run.end}
			for w.fill() {
				end := 0
				if begins(text, w.start()) {
					end = w.cardEnd()
				}
				if s := (span{w.start(), end}); end > 0 && (isFraction(text, s) || isInUUID(text, s)) {
					end = 0
				} else if end > 0 && !yield(s) {
					return
				}
				w.dropTo(end)
			}
		}
		looseCards(text, yield)
	}
}

// isFraction reports whether a span is digits behind a decimal point. One number of ten with sixteen
// of them has the check digit of a card.
func isFraction(text string, s span) bool {
	return s.start >= 2 && text[s.start-1] == '.' && isDigit(text[s.start-2]) && digitSet.run(text, s.start, s.end) == s.end
}

// uuid matches an identifier of RFC 9562, of which the first groups may be digits alone.
var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)

// isInUUID reports whether a span is a part of a UUID.
func isInUUID(text string, s span) bool {
	const length = 36
	for start := max(0, s.end-length); start <= s.start && start+length <= len(text); start++ {
		if begins(text, start) && ends(text, start+length) && uuid.MatchString(text[start:start+length]) {
			return true
		}
	}
	return false
}

// cardWindow has as many digits of a run as a card number has at most. It makes the check digit of
// each of their beginnings cheap: numbers with a separator behind each digit may begin and end
// everywhere.
type cardWindow struct {
	text        string
	next, limit int // the part of the run whose digits are not in the window yet
	first, last int // the numbers of the digits in the window, the last not included
	digits      [windowSize]cardDigit
	sums        cardSums // of the digits in front of the last
}

// windowSize is a power of two.
const windowSize = 32

// cardDigit is a digit of a run.
type cardDigit struct {
	offset int
	value  uint8
	sums   cardSums
}

// cardSums are the sums of the digits in front of a digit, modulo 10, of which those with an even
// number, or those with an odd one, count twice, as in the check of Luhn.
type cardSums [2]uint8

// twice are the values of digits that count twice.
var twice = [...]uint8{0, 2, 4, 6, 8, 1, 3, 5, 7, 9}

// fill reads digits until the window is full or the run ends. It reports whether there are digits.
func (w *cardWindow) fill() bool {
	for ; w.last-w.first < mostCardDigits && w.next < w.limit; w.next++ {
		value := w.text[w.next] - '0'
		if value > 9 {
			continue
		}
		*w.digit(w.last) = cardDigit{w.next, value, w.sums}
		doubled, plain := &w.sums[w.last&1], &w.sums[1-w.last&1]
		*doubled, *plain = (*doubled+twice[value])%10, (*plain+value)%10
		w.last++
	}
	return w.last > w.first
}

// digit returns the digit with a number.
func (w *cardWindow) digit(number int) *cardDigit { return &w.digits[number%windowSize] }

// start returns the position of the first digit.
func (w *cardWindow) start() int { return w.digit(w.first).offset }

// dropTo drops the first digit, and all others in front of a position.
func (w *cardWindow) dropTo(end int) {
	for w.first++; w.first < w.last && w.start() < end; w.first++ {
	}
}

// cardEnd returns the end of the longest card number that begins with the first digit, 0 if none
// does.
func (w *cardWindow) cardEnd() int {
	size := w.last - w.first
	if size < fewestCardDigits {
		return 0
	}
	first4 := 0
	for n := range 4 {
		first4 = first4*10 + int(w.digit(w.first+n).value)
	}
	if !isIssued(first4, anyLength) {
		return 0
	}
	for n := size; n >= fewestCardDigits; n-- {
		last := w.first + n - 1
		// The digits at every second place in front of the last count twice.
		sums, first := &w.digit(last).sums, &w.digit(w.first).sums
		sum := sums[1-last&1] + w.digit(last).value + 10 - first[1-last&1]
		if end := w.digit(last).offset + 1; sum%10 == 0 && ends(w.text, end) && isIssued(first4, n) {
			return end
		}
	}
	return 0
}

// The groups of a number that other separators than single spaces and hyphens divide.
const (
	fewestInGroup = 3
	mostInGroup   = 6
	mostGroups    = 7 // two more than a number has
)

// looseCards finds the card numbers whose groups other separators divide, such as line feeds and
// dots, until yield returns false. A column of numbers has so many groups that some of them look
// like a card, so that only a few groups with the same separator are one.
func looseCards(text string, yield func(span) bool) {
	var groups [mostGroups]span
	n, gap, more := 0, "", true
	flush := func() {
		if n <= mostGroups && gap != " " && gap != "-" {
			more = more && cardsOf(text, groups[:n], yield)
		}
		n = 0
	}
	for i := 0; i < len(text) && more; i++ {
		if !isDigit(text[i]) {
			continue
		}
		g := span{i, digitSet.run(text, i, len(text))}
		if i = g.end; n > 0 {
			last := groups[min(n, mostGroups)-1]
			separator := text[last.end:g.start]
			isGap := gapSet.run(text, last.end, last.end+mostGap) == g.start
			if !isGap || n > 1 && separator != gap {
				if flush(); isGap {
					groups[0], n = last, 1
				}
			}
			gap = separator
		}
		if size := g.end - g.start; size < fewestInGroup || size > mostInGroup {
			flush()
			continue
		}
		groups[min(n, mostGroups-1)] = g
		n++
	}
	flush()
}

// cardsOf finds the card numbers that consist of whole groups, until yield returns false.
func cardsOf(text string, groups []span, yield func(span) bool) bool {
	for first := 0; first < len(groups); first++ {
		if !begins(text, groups[first].start) {
			continue
		}
		for last := len(groups) - 1; last > first; last-- {
			whole := span{groups[first].start, groups[last].end}
			if isCard(text, whole) {
				if !yield(whole) {
					return false
				}
				first = last
			}
		}
	}
	return true
}

// anyLength is the length of a number that is not known yet.
const anyLength = 0

// isCard reports whether the digits of a span are a card number.
func isCard(text string, s span) bool {
	w := cardWindow{text: text, next: s.start, limit: s.end}
	return w.fill() && w.cardEnd() == s.end
}

// isIssued reports whether a number with these first four digits has the beginning of an issuer of
// cards, and its n digits their length.
func isIssued(first4, n int) bool {
	is := func(lengths ...int) bool { return n == anyLength || slices.Contains(lengths, n) }
	switch first2 := first4 / 100; {
	case first2/10 == 4:
		return is(13, 16, 19)
	case first2 >= 51 && first2 <= 55, first4 >= 2221 && first4 <= 2720:
		return is(16)
	case first2 == 34, first2 == 37:
		return is(15)
	case first2 == 36, first2 == 38, first2 == 39, first4 >= 3000 && first4 <= 3059:
		return is(14, 15, 16, 17, 18, 19)
	case first2 == 35, first2 == 60, first2 >= 62 && first2 <= 65, first2 == 81, first2 == 97:
		return is(16, 17, 18, 19)
	case first2 == 50, first2 >= 56 && first2 <= 69:
		return true
	}
	return false
}
