package sse

import "bytes"

// lines divides a stream into lines, which end with LF, CRLF or CR.
type lines struct {
	data    []byte // the last feed
	pos     int    // of the beginning of the next line in data
	lf, cr  int    // the first line ends in data that are not before pos; its length if there is none; found when needed
	partial []byte // beginning of the next line, from earlier feeds
	cut     bool   // partial ended with a CR, whose LF may follow
}

// feed adds bytes.
func (s *lines) feed(p []byte) {
	if s.left() > 0 {
		p = append(s.data[s.pos:len(s.data):len(s.data)], p...)
	}
	s.data, s.pos = p, 0
	s.lf, s.cr = -1, -1
}

// left returns the number of bytes of the last feed that were not consumed.
func (s *lines) left() int { return len(s.data) - s.pos }

// hasCR reports whether the bytes of the last feed that were not consumed contain a CR.
func (s *lines) hasCR() bool {
	if s.cr < s.pos {
		s.cr = s.index('\r')
	}
	return s.cr < len(s.data)
}

// next returns the next line without its end, false if it is not complete. The
// line is valid until the next call of hold.
func (s *lines) next() (line []byte, ok bool) {
	if s.left() == 0 {
		return nil, false
	}
	if s.cut {
		return s.afterCR(), true
	}
	end, next, ok := s.end()
	if !ok {
		return nil, false
	}
	line = s.data[s.pos:end]
	s.pos = next
	if len(s.partial) > 0 {
		line = append(s.partial, line...)
		s.partial = line[:0]
	}
	return line, true
}

// afterCR returns the line that ended with the last byte of an earlier feed. It needs one
// more byte, since an LF would belong to the end of that line.
func (s *lines) afterCR() (line []byte) {
	if s.data[s.pos] == '\n' {
		s.pos++
	}
	line, _ = s.last()
	return line
}

// end returns the end of the line at the cursor, and the beginning of the next one. A CR
// as the last byte is not an end yet. Each byte is searched once, in any mixture of line
// ends.
func (s *lines) end() (end, next int, ok bool) {
	if s.lf < s.pos {
		s.lf = s.index('\n')
	}
	if s.cr < s.pos {
		s.cr = s.index('\r')
	}
	switch {
	case s.lf < s.cr:
		return s.lf, s.lf + 1, true
	case s.cr+1 >= len(s.data):
		return 0, 0, false
	case s.lf == s.cr+1:
		return s.cr, s.cr + 2, true
	}
	return s.cr, s.cr + 1, true
}

// index returns the offset of the first b that is not before at.
func (s *lines) index(b byte) int {
	if i := bytes.IndexByte(s.data[s.pos:], b); i >= 0 {
		return s.pos + i
	}
	return len(s.data)
}

// hold copies the rest of the feed, in which next found no line.
func (s *lines) hold() {
	rest := s.data[s.pos:]
	if n := len(rest); n > 0 && rest[n-1] == '\r' {
		rest = rest[:n-1]
		s.cut = true
	}
	s.partial = append(s.partial, rest...)
	s.data, s.pos = nil, 0
	s.lf, s.cr = 0, 0
}

// last returns the held line, and whether a CR has ended it.
func (s *lines) last() (line []byte, ended bool) {
	line, ended = s.partial, s.cut
	s.partial, s.cut = s.partial[:0], false
	return line, ended
}
