package exchange

import "strings"

// MediaType returns the type in the value of a Content-Type header, in lower case and without
// parameters, which it does not check. It returns "" for several types, and allocates nothing
// for a type in lower case.
func MediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	if media = strings.TrimSpace(media); strings.ContainsAny(media, ", \t") {
		return ""
	}
	return strings.ToLower(media)
}

// IsJSON reports whether the value of a Content-Type header is JSON:
// application/json, or a type whose name ends in +json.
func IsJSON(contentType string) bool {
	media := MediaType(contentType)
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}
