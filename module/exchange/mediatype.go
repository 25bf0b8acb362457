package exchange

import (
	"strings"

	"golang.org/x/net/http/httpguts"
)

// mediaType returns the type in the value of a Content-Type header, in lower case and without
// parameters, which it does not check. It returns "" for several types, and allocates nothing
// for a type in lower case.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	if media = strings.TrimSpace(media); strings.ContainsAny(media, ", \t") {
		return ""
	}
	return strings.ToLower(media)
}

// IsJSON reports whether the value of a Content-Type header is JSON:
// application/json, or a type whose name ends in +json.
func IsJSON(contentType string) bool {
	// The name is a token, as the name of a header field is.
	name, ok := strings.CutPrefix(mediaType(contentType), "application/")
	return ok && (name == "json" || strings.HasSuffix(name, "+json") && httpguts.ValidHeaderFieldName(name))
}

// IsEventStream reports whether the value of a Content-Type header is an event stream.
func IsEventStream(contentType string) bool { return mediaType(contentType) == "text/event-stream" }
