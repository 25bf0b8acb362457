package exchange

import (
	"errors"
	"mime"
	"strings"
)

// IsJSON reports whether the value of a Content-Type header is JSON:
// application/json, or a type whose name ends in +json.
func IsJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return false
	}
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}
