package media

import (
	"bytes"
	"strings"
	"unicode"
)

// Kind is a kind of content. Formats have a place for a kind, not for a single type.
type Kind uint8

// The kinds. A rare kind is one that few formats take.
const (
	Unknown Kind = iota
	Image
	RareImage
	PDF
	Text
	Office
	RareOffice
	Sound
	RareSound
	Video
	RareVideo
)

// IsDocument reports whether contents of the kind are documents, which have names.
func (k Kind) IsDocument() bool { return PDF <= k && k <= RareOffice }

// Type is a media type.
type Type struct {
	Name string // "audio/wav"
	Kind Kind
	Word string // the name in formats that have no media types: "wav", also the end of names of files
}

// types is the table: the type, its other names but those of the ends, and further ends of names of
// files.
var types = []struct {
	Type
	names, ends string
}{
	{Type{"image/png", Image, "png"}, "", ""},
	{Type{"image/jpeg", Image, "jpeg"}, "image/pjpeg", "jpg"},
	{Type{"image/gif", Image, "gif"}, "", ""},
	{Type{"image/webp", Image, "webp"}, "", ""},
	{Type{"image/heic", RareImage, "heic"}, "", ""},
	{Type{"image/heif", RareImage, "heif"}, "", ""},
	{Type{"image/avif", RareImage, "avif"}, "", ""},
	{Type{"image/tiff", RareImage, "tiff"}, "", "tif"},
	{Type{"image/bmp", RareImage, "bmp"}, "image/x-ms-bmp", ""},
	{Type{"image/svg+xml", RareImage, "svg"}, "", ""},

	{Type{"application/pdf", PDF, "pdf"}, "application/x-pdf", ""},

	{Type{"application/msword", Office, "doc"}, "", ""},
	{Type{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", Office, "docx"}, "", ""},
	{Type{"application/vnd.ms-excel", Office, "xls"}, "", ""},
	{Type{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Office, "xlsx"}, "", ""},
	{Type{"application/vnd.ms-powerpoint", RareOffice, "ppt"}, "", ""},
	{Type{"application/vnd.openxmlformats-officedocument.presentationml.presentation", RareOffice, "pptx"}, "", ""},
	{Type{"application/vnd.oasis.opendocument.text", RareOffice, "odt"}, "", ""},
	{Type{"application/vnd.oasis.opendocument.spreadsheet", RareOffice, "ods"}, "", ""},
	{Type{"application/vnd.oasis.opendocument.presentation", RareOffice, "odp"}, "", ""},
	{Type{"application/rtf", RareOffice, "rtf"}, "text/rtf", ""},

	{Type{"audio/wav", Sound, "wav"}, "audio/wave audio/vnd.wave", ""},
	{Type{"audio/mp3", Sound, "mp3"}, "audio/mpeg audio/mpeg3 audio/x-mpeg", ""},
	{Type{"audio/flac", RareSound, "flac"}, "", ""},
	{Type{"audio/ogg", RareSound, "ogg"}, "application/ogg audio/vorbis", "oga"},
	{Type{"audio/opus", RareSound, "opus"}, "", ""},
	{Type{"audio/aac", RareSound, "aac"}, "", ""},
	{Type{"audio/aiff", RareSound, "aiff"}, "", "aif"},
	{Type{"audio/m4a", RareSound, "m4a"}, "audio/mp4", ""},
	{Type{"audio/webm", RareSound, "weba"}, "", ""},
	{Type{"audio/pcm", RareSound, "pcm16"}, "audio/l16", "pcm"},

	{Type{"video/mp4", Video, "mp4"}, "", "m4v"},
	{Type{"video/mpeg", Video, "mpeg"}, "", "mpg"},
	{Type{"video/quicktime", Video, "mov"}, "", ""},
	{Type{"video/webm", Video, "webm"}, "", ""},
	{Type{"video/x-msvideo", RareVideo, "avi"}, "", ""},
	{Type{"video/x-flv", Video, "flv"}, "", ""},
	{Type{"video/x-ms-wmv", Video, "wmv"}, "", ""},
	{Type{"video/x-matroska", Video, "mkv"}, "", ""},
	{Type{"video/3gpp", Video, "3gp"}, "", ""},

	{Type{"text/plain", Text, "txt"}, "", "text log ini conf cfg env properties tex rst adoc diff patch srt vtt"},
	{Type{"text/csv", Text, "csv"}, "application/csv", ""},
	{Type{"text/tab-separated-values", Text, "tsv"}, "", ""},
	{Type{"text/html", Text, "html"}, "application/xhtml+xml", "htm"},
	{Type{"text/markdown", Text, "md"}, "text/x-markdown application/markdown", "markdown mdx"},
	{Type{"application/json", Text, "json"}, "", "jsonl ndjson json5 ipynb"},
	{Type{"application/xml", Text, "xml"}, "", "xsd xsl"},
	{Type{"application/yaml", Text, "yaml"}, "application/x-yaml", "yml"},
	{
		Type{"text/x-source", Text, ""}, "application/javascript application/x-javascript application/ecmascript application/typescript " +
			"application/sql application/toml application/graphql application/x-sh application/x-python application/x-httpd-php " +
			"application/x-ndjson application/jsonl application/x-jsonlines application/x-ipynb application/x-tex application/x-latex application/x-subrip",
		"js mjs cjs jsx ts tsx py pyi rb go rs c h cc cpp hpp cs java kt kts swift scala php pl lua r jl sh bash zsh fish ps1 bat sql toml css scss less vue svelte proto graphql tf dart ex exs erl hs clj dockerfile makefile gradle",
	},
}

var byName, byEnd = index()

func index() (byName, byEnd map[string]Type) {
	byName, byEnd = make(map[string]Type), make(map[string]Type)
	for _, t := range types {
		byName[t.Name] = t.Type
		for name := range strings.FieldsSeq(t.names) {
			byName[name] = t.Type
		}
		class, _, _ := strings.Cut(t.Name, "/")
		for end := range strings.FieldsSeq(t.Word + " " + t.ends) {
			byEnd[end] = t.Type
			if class == "image" || class == "audio" || class == "video" { // programs make types of ends: video/mpg
				byName[class+"/"+end], byName[class+"/x-"+end] = t.Type, t.Type
			}
		}
	}
	return byName, byEnd
}

// rest are the kinds of types that the table does not have, by how the types begin.
var rest = []struct {
	beginning string
	kind      Kind
}{{"image/", RareImage}, {"audio/", RareSound}, {"video/", RareVideo}, {"text/", Text}}

// Find returns the type of a content by what the client states, a media type of any spelling
// with or without parameters, or else by the name of its file or its address.
func Find(stated, file []byte) Type {
	name := baseOf(stated)
	if t, known := byName[string(name)]; known {
		return t
	}
	if bytes.ContainsFunc(name, isOdd) {
		return Type{}
	}
	for _, r := range rest {
		if strings.HasPrefix(string(name), r.beginning) {
			return Type{Name: string(name), Kind: r.kind}
		}
	}
	if bytes.HasSuffix(name, []byte("+json")) || bytes.HasSuffix(name, []byte("+xml")) {
		return Type{Name: string(name), Kind: Text}
	}
	switch string(name) { // what programs state of a file that they do not know
	case "", "application/octet-stream", "binary/octet-stream", "application/x-unknown", "*/*":
		return byEnd[string(endOf(file))]
	}
	return Type{Name: string(name)}
}

// isOdd reports whether no media type has a character. The others need no escapes in JSON.
func isOdd(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII || r == '"' || r == '\\' }

// Named returns the type of a sound by a word of a format that has no media types, such as "wav", or
// by the media type that clients write in its place.
func Named(word []byte) Type {
	name := string(baseOf(word))
	for _, class := range []string{"audio/", ""} {
		if t, known := byName[class+name]; known {
			return t
		}
	}
	return byEnd[name]
}

// baseOf returns a media type in lower case and without parameters.
func baseOf(stated []byte) []byte {
	name, _, _ := bytes.Cut(stated, []byte(";"))
	return lower(bytes.TrimSpace(name))
}

// lower returns a text in lower case, in new memory where it is not.
func lower(text []byte) []byte {
	for _, b := range text {
		if 'A' <= b && b <= 'Z' {
			return bytes.ToLower(text)
		}
	}
	return text
}

// endOf returns the end of the name of a file, or of the path of an address, in lower case.
func endOf(file []byte) []byte {
	if end := bytes.IndexAny(file, "?#"); end >= 0 {
		file = file[:end]
	}
	file = file[bytes.LastIndexByte(file, '/')+1:]
	return bytes.ToLower(file[bytes.LastIndexByte(file, '.')+1:])
}
