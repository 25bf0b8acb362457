package aigateway

import "path"

// OwnsPath reports whether owns is true of a path as it was sent, or of what it
// becomes without doubled slashes and dot segments. A client whose base URL has
// a slash too many means the gateway, and so does a path that only pretends not
// to: what the site's other handlers make of either would pass for an answer of
// the gateway.
func OwnsPath(sent string, owns func(string) bool) bool { return owns(sent) || owns(path.Clean(sent)) }
