// Package playtime reads the length of sound and video from the headers of files, and from
// subtitles. It decodes nothing, reads a bounded part of a file, and trusts no header that does not
// fit the size of the file.
package playtime

import (
	"bytes"
	"cmp"
	"math"
)

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
// header does not state the length. perByte is 0 for containers.
var formats = [...]struct {
	magic   string
	offset  int64
	seconds func(file) (seconds float64, ok bool)
	perByte float64
}{
	{"RIFF", 0, wave, mostRaw},
	{"RF64", 0, wave, mostRaw},
	{"FORM", 0, aiff, mostRaw},
	{".snd", 0, sun, mostRaw},
	{"#!AMR", 0, amr, mostMPEG},
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
	for _, format := range formats {
		if string(f.read(format.offset, int64(len(format.magic)))) == format.magic {
			length, ok := format.seconds(f)
			if !ok || math.IsNaN(length) { // an endless length in ticks of no time
				return 0, false
			}
			size := float64(f.size)
			return int64(math.Ceil(min(max(length, size/cmp.Or(format.perByte, float64(kind))), size/least))), true
		}
	}
	return 0, false
}
