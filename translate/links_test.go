package translate_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	link    = regexp.MustCompile(`\]\(([^):#\s]*)(?:#([^)\s]+))?\)`) // not to another host
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Every link of a document leads to a file of the repository, and to a heading
// of it.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	documents := filesOfTree(t, func(file string) bool { return path.Ext(file) == ".md" })
	for file, text := range documents {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, anchor := path.Join(path.Dir(file), match[1]), match[2]
			if match[1] == "" {
				target = file
			}
			_, err := os.Stat(path.Join("..", target))
			assert.NoError(t, err, "%s links to %s", file, match[0])
			if anchor != "" {
				assert.Contains(t, anchors(documents[target]), anchor, "%s links to %s", file, match[0])
			}
		}
	}
}

// functions are names behind a link to the Go file that declares them.
var (
	functions = regexp.MustCompile("\\]\\(([^)\\s]+\\.go)\\) (`\\w+`(?:, `\\w+`)*)")
	function  = regexp.MustCompile(`\w+`)
)

// The documents lead through the code from function to function.
func TestFunctionsOfDocumentsAreDeclaredWhereTheyLink(t *testing.T) {
	found := 0
	for file, text := range filesOfTree(t, func(file string) bool { return path.Ext(file) == ".md" }) {
		for _, match := range functions.FindAllStringSubmatch(text, -1) {
			source, err := os.ReadFile(path.Join("..", path.Dir(file), match[1]))
			assert.NoError(t, err)
			for _, name := range function.FindAllString(match[2], -1) {
				found++
				declared := regexp.MustCompile(`(?m)^func (\([^)]+\) )?` + name + `[\[(]`).Match(source)
				assert.True(t, declared, "%s: %s does not declare %s", file, match[1], name)
			}
		}
	}
	assert.Positive(t, found)
}

// anchors returns the anchors of a document's headings, as GitHub names them.
func anchors(text string) []string {
	var all []string
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		words := dropped.ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(words, " ", "-"))
	}
	return all
}
