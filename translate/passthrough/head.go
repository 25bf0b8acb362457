package passthrough

import (
	"mime"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// head is the head of a part of a form. Servers differ in what they accept beyond RFC 7578, and
// in how they read some of what it allows: a head with either is refused.
type head struct {
	name   string
	file   bool     // the part has the name of a file
	ascii  bool     // the charset of the part is not UTF-8: only characters of ASCII are the same in both
	values []string // what the head states, as providers may read it: names, types, whatever else
}

// The reasons why heads are refused.
const (
	noHeader      = "the head of a part has a line that is no header, or does not end with CR LF"
	twoHeaders    = "the head of a part has a header twice"
	noDisposition = "a part has no readable Content-Disposition of form-data with a name"
	oddName       = "the name of a part has other characters than letters, digits and -_[], or brackets without quotes"
	oddFile       = "a part has an empty filename, or a filename* alone or not in UTF-8"
	encodedPart   = "a part is encoded: Content-Transfer-Encoding must be binary, 8bit or 7bit"
	oddType       = "a part has a Content-Type that is not readable or has parts, or, without a filename, is no text in UTF-8 or ASCII"
)

// The grammar of the names of headers and of parts, of parameters, and of filename* (RFC 8187).
// Servers differ in what a backslash means in front of other characters than these two.
var (
	headerName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	partName   = regexp.MustCompile(`^[A-Za-z0-9_\[\]-]+$`)
	parameter  = regexp.MustCompile(`^[ \t]*;[ \t]*(filename\*|[a-z-]+)=(?:"((?:[^"\\]|\\["\\])*)"|([A-Za-z0-9_.%'-]+))`)
	extended   = regexp.MustCompile(`^(?i:utf-8)'[A-Za-z0-9-]*'((?:[A-Za-z0-9_.-]|%[0-9A-Fa-f]{2})+)$`)
	unescape   = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// readLines reads the lines of a head. It returns why the head is refused, "" if it is not.
func (h *head) readLines(lines string) (broken string) {
	given := map[string]string{}
	for line := range strings.SplitSeq(lines, "\r\n") {
		name, value, found := strings.Cut(line, ":")
		if !found || !headerName.MatchString(name) || strings.ContainsFunc(value, isOdd) || !utf8.ValidString(value) {
			return noHeader
		}
		name, value = strings.ToLower(name), strings.Trim(value, " \t")
		if _, twice := given[name]; twice {
			return twoHeaders
		}
		given[name] = value
		if name != "content-disposition" {
			h.values = append(h.values, value)
		}
	}
	if broken = h.readDisposition(given["content-disposition"]); broken != "" {
		return broken
	}
	switch strings.ToLower(given["content-transfer-encoding"]) {
	case "", "binary", "8bit", "7bit":
	default:
		return encodedPart
	}
	if contentType, ok := given["content-type"]; ok && !h.readType(contentType) {
		return oddType
	}
	return ""
}

// isOdd reports whether the value of a header must not have a character.
func isOdd(c rune) bool { return unicode.IsControl(c) && c != '\t' }

// readDisposition reads the value of a Content-Disposition.
func (h *head) readDisposition(value string) (broken string) {
	rest, ok := strings.CutPrefix(value, "form-data")
	given := map[string]bool{}
	for m := parameter.FindStringSubmatch(rest); ok && m != nil; m = parameter.FindStringSubmatch(rest) {
		name, text := m[1], unescape.Replace(m[2])+m[3]
		// To a server without escapes, what is behind a quote and a semicolon is a parameter.
		ok = !given[name] && !(text != m[2]+m[3] && strings.Contains(text, ";"))
		given[name], rest = true, rest[len(m[0]):]
		switch name {
		case "name":
			if h.name = text; !partName.MatchString(text) || m[3] != "" && strings.ContainsAny(text, "[]") {
				return oddName
			}
		case "filename":
			h.file = text != ""
		case "filename*":
			m := extended.FindStringSubmatch(text)
			if m == nil {
				return oddFile
			}
			text = m[1]
		}
		h.values = append(h.values, text)
		if decoded, err := url.PathUnescape(text); err == nil && decoded != text {
			h.values = append(h.values, decoded)
		}
	}
	switch {
	case !ok || h.name == "" || strings.Trim(rest, " \t;") != "":
		return noDisposition
	case (given["filename"] || given["filename*"]) && !h.file:
		return oddFile
	}
	return ""
}

// readType reads the value of a Content-Type, and reports whether all servers read the part alike.
// A part with parts of its own contains names that are not seen, and some servers take a part that
// is no text for a file.
func (h *head) readType(value string) bool {
	kind, parameters, err := mime.ParseMediaType(value)
	switch charset := strings.ToLower(parameters["charset"]); {
	case err != nil || strings.HasPrefix(kind, "multipart/"):
		return false
	case h.file:
		return true
	case charset == "us-ascii" || charset == "iso-8859-1" || charset == "windows-1252":
		h.ascii = true
	case charset != "" && charset != "utf-8":
		return false
	}
	return strings.HasPrefix(kind, "text/") || kind == "application/json"
}
