package translatetest

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// HasRow reports whether a table has a row about a member of an object, or about a value
// inside that member. paths lists the paths of the object, each ending in a dot.
func HasRow(table []core.Field, paths []string, member string) bool {
	for i := range table {
		for _, named := range MembersNamed(table[i].Name) {
			for _, path := range paths {
				if Covers(named, path+member) {
					return true
				}
			}
		}
	}
	return false
}

// MembersNamed returns the paths of all members in the name of a row. Members joined by
// "+" are in the same object.
func MembersNamed(name string) (paths []string) {
	conditions := strings.Split(name, "+")
	path, _, _ := strings.Cut(conditions[0], "=")
	object := path[:strings.LastIndexByte(path, '.')+1]
	for i, condition := range conditions {
		if i > 0 {
			condition = object + condition
		}
		paths = append(paths, condition)
	}
	return paths
}

// Covers reports whether a row is about the object at a path or something in it.
func Covers(row, path string) bool {
	rest, ok := strings.CutPrefix(row, path)
	return ok && path != "" && (rest == "" || strings.ContainsRune(".=[", rune(rest[0])))
}
