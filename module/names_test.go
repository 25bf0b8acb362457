package module_test

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// prepositions state how a value relates to another one, but not what it is: a reader of
// New(of) or admit(to, r) misses the noun.
const prepositions = " as at behind below beside between by from in inside into of on over per through to under upTo with within without "

// maxPrepositions bounds the names of parameters, results, receivers and fields that
// are prepositions: one in so many.
const maxPrepositions = 150

func TestNamesAreNouns(t *testing.T) {
	names := 0
	var found []string
	for _, s := range sources(t) {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			for _, name := range field.Names {
				names++
				if strings.Contains(prepositions, " "+name.Name+" ") {
					found = append(found, fmt.Sprintf("%s: %s", s.name, name.Name))
				}
			}
			return true
		})
	}
	assert.LessOrEqual(t, len(found)*maxPrepositions, names, "names that are prepositions:\n%s", strings.Join(found, "\n"))
}
