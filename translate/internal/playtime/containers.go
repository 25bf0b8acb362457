package playtime

import "math"

// mp4 reads MP4 and M4A.
func mp4(f file) (seconds float64, ok bool) {
	moov, end, ok := f.box(0, f.size, "moov")
	if !ok {
		return 0, false
	}
	offset, _, ok := f.box(moov, end, "mvhd")
	if !ok {
		return 0, false
	}
	scale, length := f.big(offset+12, 4), f.big(offset+16, 4)
	if f.big(offset, 1) == 1 {
		scale, length = f.big(offset+20, 4), f.big(offset+24, 8)
	}
	return float64(length) / float64(scale), scale > 0 && length > 0
}

// box returns where the content of a box begins and ends, among the boxes from at to end.
func (f file) box(offset, end int64, name string) (start, stop int64, ok bool) {
	for n := 0; offset+8 <= end && n < maxParts; n++ {
		size, head := f.big(offset, 4), int64(8)
		switch size {
		case 0:
			size = uint64(end - offset)
		case 1:
			size, head = f.big(offset+8, 8), 16
		}
		if size < uint64(head) || size > uint64(end-offset) {
			return 0, 0, false
		}
		if string(f.read(offset+4, 4)) == name {
			return offset + head, offset + int64(size), true
		}
		offset += int64(size)
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
	for offset, n := int64(0), 0; offset < f.size && n < maxParts; n++ {
		name, size, head := f.element(offset)
		if head == 0 {
			return 0, false
		}
		offset += head
		switch name {
		case segment, segInfo:
			continue // what is in it
		case tick:
			scale = float64(f.big(offset, min(size, 8)))
		case duration:
			if ticks = math.Float64frombits(f.big(offset, 8)); size == 4 {
				ticks = float64(math.Float32frombits(uint32(f.big(offset, 4))))
			}
		}
		if ticks > 0 && (name == duration || name == tick) {
			return ticks * scale / 1e9, true
		}
		offset += size
	}
	return 0, false
}

// element reads the name and the size of an element; head is the length of both, 0 for what is no
// element.
func (f file) element(offset int64) (name uint64, size, head int64) {
	lengthOf := func(offset int64) int64 {
		for n, b := int64(1), f.big(offset, 1); n <= 8; n++ {
			if b>>(8-n)&1 == 1 {
				return n
			}
		}
		return 0
	}
	n := lengthOf(offset)
	m := lengthOf(offset + n)
	if n == 0 || n > 4 || m == 0 {
		return 0, 0, 0
	}
	size = int64(f.big(offset+n, m) &^ (1 << (7 * m)))
	if size > f.size && (f.big(offset, n) == segment || f.big(offset, n) == segInfo) { // unknown, in a live stream
		size = f.size
	}
	return f.big(offset, n), min(size, f.size), n + m
}
