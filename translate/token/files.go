package token

import "bytes"

// FileKind is a kind of file that a request may contain in base64.
type FileKind uint8

// The kinds of files. NoFile includes plain texts, which cost what their bytes cost.
const (
	NoFile FileKind = iota
	ImageFile
	PDFFile
	AudioFile
)

// FileCosts is the cost of the files in a request.
type FileCosts struct {
	Bytes  int64 // of their base64 in the body
	Tokens int64 // estimated
}

// costOf are the tokens of a file by its kind: the least number, and the bytes of
// base64 for each token. An image costs about the same whatever its size, a PDF by
// its pages, audio by its length. The rates bound what a file can hide.
var costOf = [...]struct{ least, bytesPerToken int64 }{
	ImageFile: {1500, 4 << 10},
	PDFFile:   {3000, 40},
	AudioFile: {100, 1 << 10},
}

// Add counts a file of a number of bytes of base64, 0 for a file that the body only names.
func (f *FileCosts) Add(kind FileKind, bytes int) {
	if kind == NoFile {
		return
	}
	cost := costOf[kind]
	f.Bytes += int64(bytes)
	f.Tokens += max(cost.least, int64(bytes)/cost.bytesPerToken)
}

// AddURL counts the file in a raw string that is a data URL. Any other URL is that of a
// file of the kind, whose size is unknown.
func (f *FileCosts) AddURL(kind FileKind, raw []byte) {
	switch {
	case isDataURL(raw):
		f.Add(FileKindOfURL(raw), len(raw))
	case len(raw) > len(`""`) && raw[0] == '"':
		f.Add(kind, 0)
	}
}

// FileKindOf returns the kind of a media type.
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

// dataURL is the beginning of a raw string that is a data URL.
const dataURL = `"data:`

func isDataURL(raw []byte) bool { return bytes.HasPrefix(raw, []byte(dataURL)) }

// FileKindOfURL returns the kind of the file in a raw string that is a data URL,
// NoFile for any other URL.
func FileKindOfURL(raw []byte) FileKind {
	if !isDataURL(raw) {
		return NoFile
	}
	mediaType := raw[len(dataURL):]
	const longest = 64
	mediaType, _, _ = bytes.Cut(mediaType[:min(len(mediaType), longest)], []byte(";"))
	return FileKindOf(bytes.ReplaceAll(mediaType, []byte(`\/`), []byte("/")))
}
