package token

import "bytes"

// FileKind is a kind of file that a request may hold in base64.
type FileKind uint8

// The kinds of files. Others, such as plain texts, cost what their bytes do.
const (
	NoFile FileKind = iota
	ImageFile
	PDFFile
	AudioFile
)

// FileCosts are what a request holds of files, which cost other tokens than texts do.
type FileCosts struct {
	Bytes  int64 // of their base64, as it is written in the body
	Tokens int64 // what they cost, estimated
}

// costOf has the tokens of files by their kinds: at least so many, and one for
// so many bytes of base64. An image costs about the same whatever its size, a PDF
// by its pages, audio by its length. The rates bound what a file can hide.
var costOf = [...]struct{ least, bytesPerToken int64 }{
	ImageFile: {1500, 4 << 10},
	PDFFile:   {3000, 40},
	AudioFile: {100, 1 << 10},
}

// Add counts a file of so many bytes.
func (f *FileCosts) Add(kind FileKind, bytes int) {
	if kind == NoFile {
		return
	}
	cost := costOf[kind]
	f.Bytes += int64(bytes)
	f.Tokens += max(cost.least, int64(bytes)/cost.bytesPerToken)
}

// FileKindOf returns the kind of files of a media type.
func FileKindOf(mediaType []byte) FileKind {
	switch {
	case bytes.HasPrefix(mediaType, []byte("image/")):
		return ImageFile
	case string(mediaType) == "application/pdf":
		return PDFFile
	default:
		return NoFile
	}
}

// FileKindOfURL returns the kind of file of a raw string that is a data URL, and
// NoFile for any other URL.
func FileKindOfURL(raw []byte) FileKind {
	mediaType, isData := bytes.CutPrefix(raw, []byte(`"data:`))
	if !isData {
		return NoFile
	}
	const longest = 64
	mediaType, _, _ = bytes.Cut(mediaType[:min(len(mediaType), longest)], []byte(";"))
	return FileKindOf(bytes.ReplaceAll(mediaType, []byte(`\/`), []byte("/")))
}
