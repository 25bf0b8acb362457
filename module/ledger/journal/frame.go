package journal

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// A frame is one entry in a segment:
//
//	uint32  length of the body
//	uint32  CRC-32C of the body
//	body    kind, id (uint64), payload
//
// Numbers are little-endian.
const (
	frameHeader = 8
	bodyHeader  = 9
	// MaxPayload is the largest payload of an entry, in bytes.
	MaxPayload = 64 << 10
)

// Kind is the kind of an entry.
type Kind uint8

// The kinds.
const (
	Begun Kind = 1
	Ended Kind = 2
)

// Entry is one entry. The payload must not be changed, and that of an entry that was read is
// valid until the next read.
type Entry struct {
	Kind    Kind
	ID      ID
	Payload []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendFrame(dst []byte, e Entry) []byte {
	start := len(dst)
	dst = slices.Grow(dst, frameHeader+bodyHeader+len(e.Payload))
	dst = append(dst, make([]byte, frameHeader)...)
	dst = append(dst, byte(e.Kind))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.ID))
	dst = append(dst, e.Payload...)
	body := dst[start+frameHeader:]
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(body)))
	binary.LittleEndian.PutUint32(dst[start+4:], crc32.Checksum(body, castagnoli))
	return dst
}

// parseFrame reads the frame at the beginning of data. It returns the length of the frame,
// or 0 if data does not begin with a whole frame.
func parseFrame(data []byte) (e Entry, length int) {
	if len(data) < frameHeader+bodyHeader {
		return Entry{}, 0
	}
	size := binary.LittleEndian.Uint32(data)
	if size < bodyHeader || size > bodyHeader+MaxPayload || int(size) > len(data)-frameHeader {
		return Entry{}, 0
	}
	body := data[frameHeader : frameHeader+size]
	e = Entry{Kind(body[0]), ID(binary.LittleEndian.Uint64(body[1:])), body[bodyHeader:]}
	if e.Kind != Begun && e.Kind != Ended || crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[4:]) {
		return Entry{}, 0
	}
	return e, frameHeader + int(size)
}

// nextFrame returns the position of the first whole frame in data, or the length of data
// if there is none.
func nextFrame(data []byte) int {
	for offset := range data {
		if _, length := parseFrame(data[offset:]); length > 0 {
			return offset
		}
	}
	return len(data)
}
