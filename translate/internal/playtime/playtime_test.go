package playtime

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// le and be return numbers in bytes, the lowest or the highest first.
func le(size int, numbers ...uint64) string {
	var b []byte
	for _, n := range numbers {
		b = append(b, binary.LittleEndian.AppendUint64(nil, n)[:size]...)
	}
	return string(b)
}

func be(size int, numbers ...uint64) string {
	var b []byte
	for _, n := range numbers {
		b = append(b, binary.BigEndian.AppendUint64(nil, n)[8-size:]...)
	}
	return string(b)
}

// sound returns so many bytes, which are no header.
func sound(size int) string { return strings.Repeat("\x01", size) }

func waveOf(rate, size int) string {
	return "RIFF" + le(4, 0xffffffff) + "WAVEJUNK" + le(4, 3) + "abc\x00fmt " + le(4, 16) + le(2, 1, 1) + le(4, uint64(rate), uint64(2*rate)) + le(2, 2, 16) + "data" + le(4, 0) + sound(size)
}

func page(granule uint64, content string) string {
	return "OggS\x00\x00" + le(8, granule) + le(4, 7, 0, 0) + "\x01" + string(rune(min(len(content), 100))) + content
}

func box(name, content string) string { return be(4, uint64(8+len(content))) + name + content }

const openAIWave = "RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xc0\x5d\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff"

// A recording of 30 s was charged as 235 s by its size, and one of ten minutes with few bytes as two.
func TestTheLengthOfAFileIsThatOfItsHeader(t *testing.T) {
	frame := "\xff\xfb\x90\x00" // MPEG 1, layer 3, 128 kbit/s, 44.1 kHz
	xing := "\xff\xfb\x90\x00" + strings.Repeat("\x00", 32) + "Info" + be(4, 1, 3829)
	info := "fLaC\x00\x00\x00\x22" + strings.Repeat("\x00", 10) + be(8, 44_100<<44|1<<41|15<<36|44_100*60)
	ebml := "\x1a\x45\xdf\xa3\x84abcd\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff\x15\x49\xa9\x66\x8f\x2a\xd7\xb1\x83" + be(3, 1_000_000) + "\x44\x89\x84" + be(4, uint64(math.Float32bits(20_000)))
	for name, tt := range map[string]struct {
		file string
		kind Kind
		want int64
	}{
		"WAV":                           {waveOf(16_000, 960_000), Sound, 30},
		"WAV whose length is open":      {openAIWave + sound(48_000*10), Sound, 10},
		"WAV in ADPCM":                  {strings.Replace(waveOf(16_000, 81_100), le(4, 16_000, 32_000)+le(2, 2, 16), le(4, 16_000, 8_110)+le(2, 256, 4), 1), Sound, 10},
		"Opus":                          {page(0, "OpusHead\x01\x01"+le(2, 312)+le(4, 16_000)+"      ") + sound(600_000) + page(48_000*600+312, "x"), Sound, 600},
		"Opus whose last page is open":  {page(0, "OpusHead\x01\x01"+le(2, 312)+le(4, 16_000)+"      ") + sound(60_000) + page(48_000*60, "x") + page(math.MaxUint64, "x"), Sound, 60},
		"Vorbis":                        {page(0, "\x01vorbis"+le(4, 0)+"\x02"+le(4, 44_100)+"      ") + sound(300_000) + page(44_100*25, "x"), Sound, 25},
		"MP3 of a constant rate":        {frame + sound(160_000-4), Sound, 10},
		"MP3 behind a picture":          {"ID3\x04\x00\x00" + be(4, 0x0000_0f00) + sound(0x780) + frame + sound(160_000-4), Sound, 10},
		"MP3 of a variable rate":        {xing + sound(700_000), Sound, 101},
		"MP3 of MPEG 2":                 {"\xff\xf3\x40\x00" + sound(40_000-4), Sound, 10},
		"AIFF":                          {"FORM" + be(4, 960_046) + "AIFFCOMM" + be(4, 18) + be(2, 1) + be(4, 480_000) + be(2, 16, 0x400c) + be(8, 0xfa<<56) + "SSND" + be(4, 960_008) + sound(960_008), Sound, 30},
		"AU":                            {".snd" + be(4, 24, 0xffffffff, 3, 16_000, 1) + sound(960_000), Sound, 30},
		"AU in µ-law":                   {".snd" + be(4, 24, 0xffffffff, 1, 8_000, 1) + sound(240_000), Sound, 30},
		"AMR":                           {"#!AMR\n" + strings.Repeat("\x3c"+sound(31), 1500), Sound, 30},
		"AMR of wide band":              {"#!AMR-WB\n" + strings.Repeat("\x14"+sound(32), 1500), Sound, 30},
		"AAC":                           {strings.Repeat("\xff\xf1\x50\x80\x17\x3f\xfc"+sound(185-7), 1292), Sound, 30},
		"FLAC":                          {info + sound(5_000_000), Sound, 60},
		"M4A":                           {box("ftyp", "M4A ") + box("free", "") + box("mdat", sound(300_000)) + box("moov", box("abcd", "x")+box("mvhd", be(4, 0, 0, 0, 1000, 30_000))), Sound, 30},
		"MP4 with the length in 64 bit": {box("ftyp", "isom") + box("moov", box("mvhd", be(4, 1<<24)+be(8, 0, 0)+be(4, 600)+be(8, 600*90))) + box("mdat", sound(9_000_000)), Video, 90},
		"WebM":                          {ebml + sound(100_000), Sound, 20},
		// Headers that lie are never nearly free.
		"0 s of M4A":            {box("ftyp", "M4A ") + box("moov", box("mvhd", be(4, 0, 0, 0, 1000, 1))) + box("mdat", sound(8_000_000)), Sound, 101},
		"0 s of Opus":           {page(0, "OpusHead\x01\x01"+le(2, 312)+le(4, 16_000)+"      ") + sound(8_000_000) + page(1, "x"), Sound, 101},
		"0 s of FLAC":           {"fLaC\x00\x00\x00\x22" + strings.Repeat("\x00", 10) + be(8, 44_100<<44|1<<41|15<<36|1) + sound(1_764_000), Sound, 11},
		"1 frame of MP3":        {strings.Replace(xing, be(4, 3829), be(4, 1), 1) + sound(4_800_000), Sound, 101},
		"WAV of 4 GHz":          {waveOf(2_000_000_000, 1_536_000*20), Sound, 21},
		"a year of M4A":         {box("ftyp", "M4A ") + box("moov", box("mvhd", be(4, 0, 0, 0, 1, 31_536_000))) + box("mdat", sound(59_000)), Sound, 985},
		"a video, which is one": {box("ftyp", "M4A ") + box("moov", box("mvhd", be(4, 0, 0, 0, 1000, 1))) + box("mdat", sound(25_000_000)), Video, 11},
	} {
		got, ok := Of([]byte(tt.file), tt.kind)
		assert.True(t, ok, name)
		assert.InDelta(t, tt.want, got, 1, name)
		for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			coded, ok := OfBase64([]byte(alphabet.EncodeToString([]byte(tt.file))), tt.kind)
			assert.True(t, ok, name)
			assert.InDelta(t, got, coded, 1, name)
		}
	}
	// A length of no number, as an endless one in ticks of no time, is unknown: it once made a video of 20 MB free.
	endless := func(scale, ticks string) string {
		return "\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x15\x49\xa9\x66\xff\x2a\xd7\xb1\x81" + scale + "\x44\x89" + ticks + sound(100_000)
	}
	for _, file := range []string{
		endless("\x00", "\x88"+be(8, 0x7ff0<<48)), endless("\x00", "\x84"+be(4, 0x7f80_0000)), endless("\x01", "\x88"+be(8, 0x7ff8<<48)),
		"", "RIFF", "RIFFxxxxWAVEdata", "OggS", "fLaC", "\xff\xff\xff\xff", "\x00\x00\x00\x08ftyp", "\x1a\x45\xdf\xa3", "ID3" + strings.Repeat("\x7f", 99), "abcd", sound(9999)} {
		_, ok := Of([]byte(file), Sound)
		assert.False(t, ok, "%q", file)
	}
	_, ok := OfBase64([]byte(`UklGRv\/\/`), Sound)
	assert.False(t, ok)
}

func TestTheLengthOfSubtitlesIsTheirLastTime(t *testing.T) {
	for text, want := range map[string]int64{
		"1\n00:00:00,000 --> 00:00:50,000\nhello\n":                           51,
		"WEBVTT\n\n00:01.000 --> 01:02.500 align:start\nhi\n\nNOTE a --> b\n": 63,
		"1\r\n00:00:00,000 --> 01:00:01,5\r\na\r\n\r\n2\r\n":                  3602,
		"1\n100:00:00,000 --> 100:00:01,000":                                  360_002,
		"":                                                                    0,
		"--> 99:99:99,000":                                                    0,
		"hello --> world":                                                     0,
		"00:00:00 --> 1:2:3:4":                                                0,
	} {
		got, ok := OfSubtitles([]byte(text))
		assert.Equal(t, want > 0, ok, text)
		assert.Equal(t, want, got, text)
	}
}

// Headers are read whatever they are, and no file is free or of more than its size allows.
func FuzzOf(f *testing.F) {
	for _, file := range []string{waveOf(16_000, 100), page(0, "OpusHead\x01\x01"+le(6, 312)), openAIWave, "\xff\xfb\x90\x00abc", box("ftyp", "M4A ") + box("moov", box("mvhd", be(4, 0, 0, 0, 1000, 1))),
		"\x1a\x45\xdf\xa3\x84abcd\x18\x53\x80\x67\xff\x15\x49\xa9\x66\x8f\x44\x89\x84aaaa",
		"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x15\x49\xa9\x66\xff\x2a\xd7\xb1\x81\x00\x44\x89\x88\x7f\xf0\x00\x00\x00\x00\x00\x00", "fLaC\x00\x00\x00\x22" + sound(30), "ID3\x04\x00\x00\x00\x00\x00\x01a"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, kind := range []Kind{Sound, Video} {
			seconds, ok := Of(file, kind)
			coded, same := OfBase64([]byte(base64.StdEncoding.EncodeToString(file)), kind)
			assert.Equal(t, ok, same)
			if ok {
				assert.Equal(t, seconds, coded)
				assert.Positive(t, seconds)
				assert.LessOrEqual(t, seconds, int64(len(file))/least+1)
			}
		}
		_, _ = OfSubtitles(file)
	})
}
