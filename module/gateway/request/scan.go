package request

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Scan finds the lines of a file whose bytes are sent on as they arrive, maybe in several requests. The zero
// Scan is before the first byte. It must be used by one goroutine at a time.
type Scan struct {
	Offset  int64 // bytes of the file so far
	stopped bool
	number  int // of the last line
	begun   []byte
}

// Stop ends the reading of lines: the file is another one than its reader expects.
func (s *Scan) Stop() { s.stopped, s.begun = true, nil }

// Stopped reports whether the reading of lines has ended before the file.
func (s *Scan) Stopped() bool { return s.stopped }

// Copy returns a Scan that goes on from the same byte.
func (s Scan) Copy() Scan {
	s.begun = slices.Clone(s.begun)
	return s
}

// Held returns the number of bytes of the line that has begun.
func (s *Scan) Held() int { return len(s.begun) }

// Add shows the lines that end in p to each, none of more than longest bytes. It returns the first fault. A
// file whose first line is too long has no lines.
func (s *Scan) Add(p []byte, longest int64, each func(line []byte) *fault.Fault) *fault.Fault {
	s.Offset += int64(len(p))
	for !s.stopped && len(p) > 0 {
		line, rest, ends := bytes.Cut(p, []byte("\n"))
		switch isLong := int64(len(s.begun)+len(line)) > longest; {
		case isLong && s.number == 0:
			s.Stop()
			return nil
		case isLong:
			return fault.LongLine(longest).InLine(s.number + 1)
		}
		s.begun = append(s.begun, line...)
		if !ends {
			return nil
		}
		if refused := s.End(each); refused != nil {
			return refused
		}
		p = rest
	}
	return nil
}

// End shows the line that has begun to each, as at the end of the file.
func (s *Scan) End(each func(line []byte) *fault.Fault) *fault.Fault {
	line := bytes.TrimSpace(s.begun)
	s.number++
	s.begun = s.begun[:0]
	if len(line) == 0 {
		return nil
	}
	if refused := each(line); refused != nil {
		return refused.InLine(s.number)
	}
	return nil
}
