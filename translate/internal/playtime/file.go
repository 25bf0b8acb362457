package playtime

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
)

// file is a file in bytes or in base64.
type file struct {
	data  []byte
	size  int64 // of the decoded file
	coded bool  // the data is base64
}

// read returns n bytes at an offset, fewer at the end of the file and for invalid base64.
func (f file) read(offset, n int64) []byte {
	if offset < 0 || offset >= f.size {
		return nil
	}
	n = min(n, f.size-offset)
	if !f.coded {
		return f.data[offset : offset+n]
	}
	coded := f.data[offset/3*4 : min((offset+n+2)/3*4, int64(len(f.data)))]
	decoded, _ := base64.StdEncoding.AppendDecode(nil, media.Standard(coded))
	decoded = decoded[min(offset%3, int64(len(decoded))):]
	return decoded[:min(n, int64(len(decoded)))]
}

// little and big return the number in 2, 4 or 8 bytes at an offset, 0 behind the end of the file.
func (f file) little(offset, n int64) (number uint64) {
	b := [8]byte{}
	copy(b[:], f.read(offset, n))
	return binary.LittleEndian.Uint64(b[:])
}

func (f file) big(offset, n int64) (number uint64) {
	b := [8]byte{}
	copy(b[8-n:], f.read(offset, n))
	return binary.BigEndian.Uint64(b[:])
}

// maxParts bounds the chunks or boxes of a file that are looked at.
const maxParts = 256
