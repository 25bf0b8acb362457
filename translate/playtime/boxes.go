package playtime

import "math"

// mpeg reads MPEG audio, such as MP3, behind the tags of ID3: the number of frames that the first
// one states, or else the size at the rate of the first frame.
func mpeg(f file) (seconds float64, ok bool) {
	at := int64(0)
	for n := 0; n < maxParts && string(f.at(at, 3)) == "ID3"; n++ {
		size := f.big(at+6, 4)
		at += 10 + int64(size&0x7f|size>>1&0x3f80|size>>2&0x1fc000|size>>3&0xfe00000)
	}
	h := f.big(at, 4)
	version, layer := h>>19&3, h>>17&3
	if h>>21 != 0x7ff || version == 1 || layer == 0 {
		return 0, false
	}
	samples, half := uint64(1152), uint64(0)
	if version != 3 {
		half = 1
	}
	switch {
	case layer == 3:
		samples = 384
	case layer == 1 && half == 1:
		samples = 576
	}
	bitrate := uint64(bitrates[half][layer][h>>12&15]) * 1000
	rate := [...]uint64{44_100, 48_000, 32_000, 0}[h>>10&3] >> half
	if version == 0 { // MPEG 2.5
		rate >>= 1
	}
	if bitrate == 0 || rate == 0 {
		return 0, false
	}
	for _, offset := range [...]int64{36, 21, 13} { // of the tag, by version and channels
		tag := string(f.at(at+offset, 4))
		if frames := f.big(at+offset+8, 4); (tag == "Xing" || tag == "Info") && f.big(at+offset+4, 4)&1 == 1 {
			return float64(frames*samples) / float64(rate), true
		}
		if tag == "VBRI" {
			return float64(f.big(at+offset+14, 4)*samples) / float64(rate), true
		}
	}
	return float64(f.size-at) * 8 / float64(bitrate), true
}

// bitrates are the rates of frames in kbit/s, by version 1 or a later one, and by layer from 3 on.
var bitrates = [2][4][16]uint16{
	{
		1: {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
		2: {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
		3: {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
	},
	{
		1: {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
		2: {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
		3: {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
	},
}

// mp4 reads MP4 and M4A.
func mp4(f file) (seconds float64, ok bool) {
	moov, end, ok := f.box(0, f.size, "moov")
	if !ok {
		return 0, false
	}
	at, _, ok := f.box(moov, end, "mvhd")
	if !ok {
		return 0, false
	}
	scale, length := f.big(at+12, 4), f.big(at+16, 4)
	if f.big(at, 1) == 1 {
		scale, length = f.big(at+20, 4), f.big(at+24, 8)
	}
	return float64(length) / float64(scale), scale > 0 && length > 0
}

// box returns where the content of a box begins and ends, among the boxes from at to end.
func (f file) box(at, end int64, name string) (start, until int64, ok bool) {
	for n := 0; at+8 <= end && n < maxParts; n++ {
		size, head := f.big(at, 4), int64(8)
		switch size {
		case 0:
			size = uint64(end - at)
		case 1:
			size, head = f.big(at+8, 8), 16
		}
		if size < uint64(head) || size > uint64(end-at) {
			return 0, 0, false
		}
		if string(f.at(at+4, 4)) == name {
			return at + head, at + int64(size), true
		}
		at += int64(size)
	}
	return 0, 0, false
}

// The elements of Matroska that have the length.
const (
	segment  = 0x18538067
	segInfo  = 0x1549a966
	tick     = 0x2ad7b1 // in nanoseconds
	duration = 0x4489   // in ticks
)

// matroska reads Matroska and WebM.
func matroska(f file) (seconds float64, ok bool) {
	scale, ticks := 1e6, 0.0
	for at, n := int64(0), 0; at < f.size && n < maxParts; n++ {
		name, size, head := f.element(at)
		if head == 0 {
			return 0, false
		}
		at += head
		switch name {
		case segment, segInfo:
			continue // what is in it
		case tick:
			scale = float64(f.big(at, min(size, 8)))
		case duration:
			if ticks = math.Float64frombits(f.big(at, 8)); size == 4 {
				ticks = float64(math.Float32frombits(uint32(f.big(at, 4))))
			}
		}
		if ticks > 0 && (name == duration || name == tick) {
			return ticks * scale / 1e9, true
		}
		at += size
	}
	return 0, false
}

// element reads the name and the size of an element; head is the length of both, 0 for what is no
// element.
func (f file) element(at int64) (name uint64, size, head int64) {
	lengthOf := func(at int64) int64 {
		for n, b := int64(1), f.big(at, 1); n <= 8; n++ {
			if b>>(8-n)&1 == 1 {
				return n
			}
		}
		return 0
	}
	n := lengthOf(at)
	m := lengthOf(at + n)
	if n == 0 || n > 4 || m == 0 {
		return 0, 0, 0
	}
	size = int64(f.big(at+n, m) &^ (1 << (7 * m)))
	if size > f.size && (f.big(at, n) == segment || f.big(at, n) == segInfo) { // unknown, in a live stream
		size = f.size
	}
	return f.big(at, n), min(size, f.size), n + m
}
