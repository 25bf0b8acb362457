package jsonscan

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// hashName returns equal hashes for names that differ only in letter case. It is cheap,
// and collisions are easy to construct, so it suits only few names.
func hashName(name []byte) uint32 {
	hash, ascii := hashWords(name)
	if !ascii {
		var buf [64]byte
		hash, _ = hashWords(fold(buf[:0], name))
	}
	return hash
}

// hashWords hashes a name in words of eight bytes, the last of which is filled up with
// zeros.
func hashWords(name []byte) (hash uint32, ascii bool) {
	var sum, all uint64
	for ; len(name) >= 8; name = name[8:] {
		w := binary.LittleEndian.Uint64(name)
		sum, all = mixed(sum, w), all|w
	}
	var last [8]byte
	copy(last[:], name)
	w := binary.LittleEndian.Uint64(last[:])
	return uint32(mixed(sum, w) >> 32), (all|w)&highs == 0
}

// mixed adds a word to a sum, without the bits that distinguish small letters from
// capitals. The upper half of the sum is the hash.
func mixed(sum, w uint64) uint64 {
	const (
		caseBits = 0x20 * ones
		factor   = 0x9e3779b97f4a7c15
	)
	return (sum ^ w&^caseBits) * factor
}

// fold appends the name with each letter replaced by the smallest equivalent under
// Unicode's simple folding, which is the capital in ASCII.
func fold(dst, name []byte) []byte {
	for i, b := range name {
		if b >= utf8.RuneSelf {
			return foldRunes(dst, name[i:])
		}
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}

// foldRunes is fold for names beyond ASCII.
func foldRunes(dst, name []byte) []byte {
	for _, r := range string(name) {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		dst = utf8.AppendRune(dst, least)
	}
	return dst
}
