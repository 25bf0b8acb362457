package playtime

import (
	"bytes"
	"math"
)

// wave reads WAV. Players ignore the stated length of the data where it cannot be.
func wave(f file) (seconds float64, ok bool) {
	rate := uint64(0)
	for offset, n := int64(12), 0; offset < f.size && n < maxParts; n++ {
		switch name, size := string(f.read(offset, 4)), int64(f.little(offset+4, 4)); name {
		case "data":
			return float64(f.size-offset-8) / float64(rate), rate > 0
		case "fmt ":
			rate = f.little(offset+16, 4)
			if frames := f.little(offset+12, 4) * f.little(offset+20, 2); frames > 0 {
				rate = min(rate, frames)
			}
			fallthrough
		default:
			offset += 8 + size + size&1
		}
	}
	return 0, false
}

// aiff reads AIFF and AIFF-C, whose header states the number of frames.
func aiff(f file) (seconds float64, ok bool) {
	for offset, n := int64(12), 0; offset < f.size && n < maxParts; n++ {
		size := int64(f.big(offset+4, 4))
		if string(f.read(offset, 4)) == "COMM" {
			// The rate has 80 bits: an exponent, and a whole number of 64 bits.
			rate := math.Ldexp(float64(f.big(offset+18, 8)), int(f.big(offset+16, 2)&0x7fff)-16383-63)
			return float64(f.big(offset+10, 4)) / rate, rate > 0
		}
		offset += 8 + size + size&1
	}
	return 0, false
}

// sun reads AU. Players ignore its stated length.
func sun(f file) (seconds float64, ok bool) {
	sample := [...]uint64{1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 4, 7: 8, 27: 1} // bytes, by the coding
	coding := f.big(12, 4)
	if coding >= uint64(len(sample)) {
		return 0, false
	}
	rate := f.big(16, 4) * f.big(20, 4) * sample[coding]
	return float64(f.size-int64(f.big(4, 4))) / float64(rate), rate > 0
}

// amr reads AMR in one channel.
func amr(f file) (seconds float64, ok bool) {
	start, sizes := int64(len("#!AMR\n")), [16]int64{13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1}
	if string(f.read(start-1, 4)) == "-WB\n" {
		start, sizes = int64(len("#!AMR-WB\n")), [16]int64{18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1}
	}
	return f.frames(start, func(offset int64) (size int64, seconds float64) {
		return sizes[f.big(offset, 1)>>3&15], 0.02
	})
}

// adts reads AAC in frames of its own, each of 1024 samples.
func adts(f file, start int64) (seconds float64, ok bool) {
	rates := [16]float64{96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350}
	return f.frames(start, func(offset int64) (size int64, seconds float64) {
		h := f.big(offset, 8)
		if rate := rates[h>>42&15]; h>>52 == 0xfff && rate > 0 {
			return int64(h >> 21 & 0x1fff), 1024 / rate
		}
		return 0, 0
	})
}

// frames returns the length of frames without a header of the whole, by the size and the length of
// the first ones.
func (f file) frames(start int64, frame func(offset int64) (size int64, seconds float64)) (seconds float64, ok bool) {
	offset := start
	for n := 0; offset < f.size && n < maxParts; n++ {
		size, length := frame(offset)
		if size <= 0 || length <= 0 {
			break
		}
		offset, seconds = offset+size, seconds+length
	}
	return seconds * float64(f.size-start) / float64(offset-start), offset > start
}

// ogg reads Ogg with Opus or Vorbis: the position of the last page, in samples.
func ogg(f file) (seconds float64, ok bool) {
	const maxPage = 27 + 255 + 255*255
	packet := 27 + int64(f.little(26, 1))
	rate, skip := f.little(packet+12, 4), uint64(0)
	switch head := string(f.read(packet, 8)); {
	case head == "OpusHead":
		rate, skip = 48_000, f.little(packet+10, 2)
	case len(head) < 7 || head[:7] != "\x01vorbis":
		return 0, false
	}
	start := max(0, f.size-maxPage)
	tail := f.read(start, maxPage)
	for i := bytes.LastIndex(tail, []byte("OggS")); i >= 0; i = bytes.LastIndex(tail[:i], []byte("OggS")) {
		page := start + int64(i)
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

// mpeg reads MPEG audio, such as MP3, behind the tags of ID3: the number of frames that the first
// one states, or else the size at the rate of the first frame.
func mpeg(f file) (seconds float64, ok bool) {
	start := int64(0)
	for n := 0; n < maxParts && string(f.read(start, 3)) == "ID3"; n++ {
		size := f.big(start+6, 4)
		start += 10 + int64(size&0x7f|size>>1&0x3f80|size>>2&0x1fc000|size>>3&0xfe00000)
	}
	h := f.big(start, 4)
	version, layer := h>>19&3, h>>17&3
	switch {
	case h>>21 != 0x7ff || version == 1:
		return 0, false
	case layer == 0:
		return adts(f, start)
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
		tag := string(f.read(start+offset, 4))
		if frames := f.big(start+offset+8, 4); (tag == "Xing" || tag == "Info") && f.big(start+offset+4, 4)&1 == 1 {
			return float64(frames*samples) / float64(rate), true
		}
		if tag == "VBRI" {
			return float64(f.big(start+offset+14, 4)*samples) / float64(rate), true
		}
	}
	return float64(f.size-start) * 8 / float64(bitrate), true
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
