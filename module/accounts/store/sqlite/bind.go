package sqlite

import (
	"strconv"
	"strings"
)

// bind rewrites the parameters $1, $2 and so on of a statement. If they occur in this
// order, once each, they become ?, or else ?1, ?2 and so on. The form without numbers is
// faster: for each parameter with a number, the driver searches all parameters before it.
func bind(query string) string {
	pieces := strings.Split(query, "$")
	for i, piece := range pieces[1:] {
		number := strconv.Itoa(i + 1)
		rest, ok := strings.CutPrefix(piece, number)
		if !ok || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return strings.ReplaceAll(query, "$", "?")
		}
		pieces[i+1] = rest
	}
	return strings.Join(pieces, "?")
}
