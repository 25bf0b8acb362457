// Package playtime reads the length of sound and video from the headers of files, and from
// subtitles. It decodes nothing, reads a bounded part of a file, and trusts no header that does not
// fit the size of the file.
package playtime

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// file is a file in bytes or in base64.
type file struct {
	data  []byte
	size  int64 // of the decoded file
	coded bool  // the data is base64
}

// Kind is what a file is used as.
type Kind float64

// The kinds. Each is the largest plausible number of bytes of a second: a container, such as MP4,
// may have either.
const (
	Sound Kind = 80_000    // 640 kbit/s: Opus has up to 510, AAC of two channels 529
	Video Kind = 2_500_000 // 20 Mbit/s
)

// The bounds of other formats, in bytes of a second.
const (
	mostRaw  = 192_000 * 2 * 4 // two channels of 192 kHz with 32 bits
	mostMPEG = 48_000          // 384 kbit/s, that of MPEG layer 2
	least    = 60              // silence in FLAC has about 130
)

// formats are the known formats, by the bytes at an offset. Their functions return false if a
// header does not state the length. most is 0 for containers.
var formats = [...]struct {
	magic   string
	offset  int64
	seconds func(file) (seconds float64, ok bool)
	most    float64
}{
	{"RIFF", 0, wave, mostRaw},
	{"RF64", 0, wave, mostRaw},
	{"OggS", 0, ogg, float64(Sound)},
	{"fLaC", 0, flac, mostRaw},
	{"ID3", 0, mpeg, mostMPEG},
	{"\xff", 0, mpeg, mostMPEG},
	{"ftyp", 4, mp4, 0},
	{"moov", 4, mp4, 0},
	{"\x1a\x45\xdf\xa3", 0, matroska, 0},
}

// Of returns the length of a file in seconds, begun ones included, as its header states it, but no
// less than the size of the file allows: a header that lies does not make a large file free. ok is
// false if the length is unknown.
func Of(data []byte, kind Kind) (seconds int64, ok bool) {
	return file{data: data, size: int64(len(data))}.length(kind)
}

// OfBase64 is Of for a file in base64, in either alphabet.
func OfBase64(data []byte, kind Kind) (seconds int64, ok bool) {
	data = bytes.TrimRight(data, "=")
	return file{data, int64(len(data)) * 3 / 4, true}.length(kind)
}

func (f file) length(kind Kind) (seconds int64, ok bool) {
	for _, of := range formats {
		if string(f.at(of.offset, int64(len(of.magic)))) == of.magic {
			length, ok := of.seconds(f)
			if !ok || math.IsNaN(length) { // an endless length in ticks of no time
				return 0, false
			}
			size := float64(f.size)
			return int64(math.Ceil(min(max(length, size/cmp.Or(of.most, float64(kind))), size/least))), true
		}
	}
	return 0, false
}

// at returns n bytes at an offset, fewer at the end of the file and for invalid base64.
func (f file) at(offset, n int64) []byte {
	if offset < 0 || offset >= f.size {
		return nil
	}
	n = min(n, f.size-offset)
	if !f.coded {
		return f.data[offset : offset+n]
	}
	decoded := make([]byte, 0, n+3)
	for at := offset / 3 * 4; int64(len(decoded)) < n+offset%3 && at < int64(len(f.data)); at += 4 {
		var bits uint32
		group := f.data[at:min(at+4, int64(len(f.data)))]
		for i := range 4 {
			value := byte(0)
			if i < len(group) {
				if value = valueOf[group[i]]; value == invalid {
					return nil
				}
			}
			bits = bits<<6 | uint32(value)
		}
		decoded = append(decoded, byte(bits>>16), byte(bits>>8), byte(bits))
	}
	return decoded[offset%3 : min(offset%3+n, int64(len(decoded)))]
}

const invalid = 0xff

// valueOf has the values of the characters of both alphabets of base64.
var valueOf = func() (values [256]byte) {
	for i := range values {
		values[i] = invalid
	}
	for _, alphabet := range []string{"+/", "-_"} {
		for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + alphabet {
			values[c] = byte(i)
		}
	}
	return values
}()

// little and big return the number in 2, 4 or 8 bytes at an offset, 0 behind the end of the file.
func (f file) little(offset, n int64) (number uint64) {
	b := [8]byte{}
	copy(b[:], f.at(offset, n))
	return binary.LittleEndian.Uint64(b[:])
}

func (f file) big(offset, n int64) (number uint64) {
	b := [8]byte{}
	copy(b[8-n:], f.at(offset, n))
	return binary.BigEndian.Uint64(b[:])
}

// maxParts bounds the chunks or boxes of a file that are looked at.
const maxParts = 256

// wave reads WAV. Players ignore the stated length of the data where it cannot be.
func wave(f file) (seconds float64, ok bool) {
	rate := uint64(0)
	for at, n := int64(12), 0; at < f.size && n < maxParts; n++ {
		switch name, size := string(f.at(at, 4)), int64(f.little(at+4, 4)); name {
		case "data":
			return float64(f.size-at-8) / float64(rate), rate > 0
		case "fmt ":
			rate = f.little(at+16, 4)
			if frames := f.little(at+12, 4) * f.little(at+20, 2); frames > 0 {
				rate = min(rate, frames)
			}
			fallthrough
		default:
			at += 8 + size + size&1
		}
	}
	return 0, false
}

// ogg reads Ogg with Opus or Vorbis: the position of the last page, in samples.
func ogg(f file) (seconds float64, ok bool) {
	const maxPage = 27 + 255 + 255*255
	packet := 27 + int64(f.little(26, 1))
	rate, skip := f.little(packet+12, 4), uint64(0)
	switch head := string(f.at(packet, 8)); {
	case head == "OpusHead":
		rate, skip = 48_000, f.little(packet+10, 2)
	case len(head) < 7 || head[:7] != "\x01vorbis":
		return 0, false
	}
	start := max(0, f.size-maxPage)
	tail := f.at(start, maxPage)
	for at := bytes.LastIndex(tail, []byte("OggS")); at >= 0; at = bytes.LastIndex(tail[:at], []byte("OggS")) {
		page := start + int64(at)
		if end := f.little(page+6, 8); f.little(page+14, 4) == f.little(14, 4) && end != 1<<64-1 && rate > 0 {
			return float64(end-min(skip, end)) / float64(rate), true
		}
	}
	return 0, false
}

// flac reads FLAC, whose length may be left open.
func flac(f file) (seconds float64, ok bool) {
	info := f.big(18, 8)
	rate, samples := info>>44, info&(1<<36-1)
	raw := float64(rate*(info>>41&7+1)*(info>>36&31+1)) / 8
	return max(float64(samples)/float64(rate), float64(f.size)/raw), rate > 0 && samples > 0
}
