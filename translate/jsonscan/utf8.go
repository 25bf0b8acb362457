package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// utf8End returns the offset of the first byte that is not UTF-8, len(data) if all of them are.
// Most bytes of most documents are ASCII.
func utf8End(data []byte) int {
	if len(data) < 4*64 && utf8.Valid(data) { // such as the events of a stream
		return len(data)
	}
	i := 0
	for i+64 <= len(data) {
		block := data[i : i+64 : i+64]
		a, b := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
		c, d := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		e, f := binary.LittleEndian.Uint64(block[32:]), binary.LittleEndian.Uint64(block[40:])
		g, h := binary.LittleEndian.Uint64(block[48:]), binary.LittleEndian.Uint64(block[56:])
		if (a|b|c|d|e|f|g|h)&highs == 0 {
			i += 64
			continue
		}
		end, valid := wideEnd(data, i)
		if !valid {
			return end
		}
		i = end
	}
	if utf8.Valid(data[i:]) {
		return len(data)
	}
	end, _ := runesEnd(data, i, len(data))
	return end
}

// wideEnd returns the end of the text beyond ASCII that begins in the 64 bytes from i on, or the
// offset of the first byte that is not UTF-8. Such a text ends with eight bytes of ASCII, so that
// words of it may have spaces between them.
//
// It looks at eight bytes at once, without a branch for each character. The high bit of each byte
// of a word states something of this byte; all other bits are of no account.
func wideEnd(data []byte, i int) (end int, valid bool) {
	wide := binary.LittleEndian.Uint64(data[i:]) & highs
	for ; wide == 0; wide = binary.LittleEndian.Uint64(data[i:]) & highs {
		i += 8
	}
	i += bits.TrailingZeros64(wide) / 8
	var second, third uint64 // the bytes that continue a character of the word before
	for i+9 <= len(data) {
		window := data[i : i+9 : i+9]
		w := binary.LittleEndian.Uint64(window)
		if w&highs|second|third == 0 {
			return i + 8, true
		}
		first := w & (w << 1)       // of a character of several bytes
		ofThree := first & (w << 2) // or of four
		ofFour := ofThree & (w << 3)
		low := w & (0x0f * ones)
		isE0, isED := ofThree&(highs-low), ofThree&(highs-(low^0x0d*ones))
		nextIsHigh := binary.LittleEndian.Uint64(window[1:]) << 2 // from 0xA0 on

		wrong := (first<<8 | second | ofThree<<16 | third) ^ w ^ first // w ^ first: continues a character
		wrong |= (first ^ ofThree) & (highs - w&(0x1e*ones))           // 0xC0 and 0xC1 encode ASCII
		wrong |= isE0 ^ (isE0|isED)&nextIsHigh                         // E0 encodes no less than U+0800, ED no surrogates
		if (wrong|ofFour)&highs == 0 {
			second, third = first>>56&0x80, ofThree>>48&0x8080
			i += 8
			continue
		}
		if i, valid = runesEnd(data, runeStart(data, i), i+8); !valid {
			return i, false
		}
		second, third = 0, 0
	}
	return runeStart(data, i), true
}

// runesEnd returns the end of the characters from i on, the last of which ends at an offset or
// behind it, or the offset of the first byte that is not UTF-8.
func runesEnd(data []byte, i, least int) (end int, valid bool) {
	for i < least {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i, false
		}
		i += size
	}
	return i, true
}

// runeStart returns the offset of the last character that begins before i, 0 for none.
func runeStart(data []byte, i int) int {
	for i--; i > 0 && !utf8.RuneStart(data[i]); i-- {
	}
	return max(i, 0)
}
