package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// memberName is the name of a member, and knows those in front of it in the open objects.
type memberName struct {
	text      []byte // decoded
	start     int    // the offset of its quote
	hash      uint32 // 0 if repeated names are not detected
	unchecked bool   // repeated names are not detected
	buf       []byte // memory of names with escapes
	before    names  // of the members in front of it
}

// enter begins an object.
func (m *memberName) enter() {
	if !m.unchecked {
		m.before.enter()
	}
}

// leave ends the innermost object.
func (m *memberName) leave() {
	if !m.unchecked {
		m.before.leave()
	}
}

// repeats reports whether the innermost object has the name already, and returns the offset of
// its first occurrence. It is not for names that are unchecked.
func (m *memberName) repeats(data []byte) (first uint32, twice bool) {
	if m.before.addNew(m.hash, m.start) {
		return 0, false
	}
	return m.before.add(data, m.text, m.hash, m.start)
}

// read decodes the name at i, and hashes it if repeated names are to be detected. It returns the
// end of the name, or where and why it is wrong.
func (m *memberName) read(data []byte, i int, ends *stringEnder) (end int, reason string) {
	m.start = i
	if i == len(data) || data[i] != '"' {
		return i, whyName
	}
	if m.unchecked {
		end = m.readPlain(data, i)
	} else {
		end = m.readHashed(data, i)
	}
	if end > 0 {
		return end, ""
	}
	return m.readAny(data, i, ends)
}

// readAny is read for names of any kind.
func (m *memberName) readAny(data []byte, i int, ends *stringEnder) (end int, reason string) {
	end, escaped, reason := ends.end(data, i)
	if reason != "" {
		return end, reason
	}
	if m.text = unquoted(data[i:end]); escaped {
		m.buf = appendDecoded(m.buf[:0], m.text)
		m.text = m.buf
	}
	m.hash = hashName(m.text)
	return end, ""
}

// readHashed is read for ASCII names without escapes, and hashes the words of the name while it
// searches for the end. It returns 0 for any other name, and for one in the last bytes of the
// document.
func (m *memberName) readHashed(data []byte, i int) (end int) {
	first, sum := i+1, uint64(0)
	for i = first; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		hit := (special(w) | w) & highs
		if hit == 0 {
			sum = mixed(sum, w)
			continue
		}
		n := bits.TrailingZeros64(hit) &^ 7 // the bits in front of the first such byte
		end = i + n/8
		if data[end] != '"' {
			return 0
		}
		m.text = data[first:end:end]
		m.hash = uint32(mixed(sum, w&(1<<n-1)) >> 32)
		return end + 1
	}
	return 0
}

// maxPlainName is the length, in bytes, up to which names have a loop of their own.
// Nearly all names of members are shorter.
const maxPlainName = 24

// readPlain is read for short names without escapes in a valid document. It returns 0 for any
// other name.
func (m *memberName) readPlain(data []byte, i int) (end int) {
	text := data[i+1 : min(i+1+maxPlainName, len(data))]
	for n, b := range text {
		switch b {
		case '"':
			m.text = text[:n:n]
			return i + n + len(`""`)
		case '\\':
			return 0
		}
	}
	return 0
}
