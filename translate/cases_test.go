package translate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const casesFile = "../testdata/conformance/cases.txt"

var (
	caseLine   = regexp.MustCompile(`^([CGKLRXYZ]\d{3}) \S.*\S$`)
	caseNumber = regexp.MustCompile(`[CGKLRXYZ]\d{3}`)
	// caseName matches the beginning of the name of a test: of a function, or of a case in
	// a table, where it is quoted.
	caseName = regexp.MustCompile("(?:Test|[\"'`])(?:[CGKLRXYZ]\\d{3})+")
)

// CI counts the passed tests of each numbered case. A number without a line
// would not be missed there, and a line without a test would be found only at
// the end of a whole run.
func TestEveryNumberedCaseHasALineAndATest(t *testing.T) {
	numbers := numberedCases(t)
	for _, letter := range []string{"G", "R"} {
		of := slices.DeleteFunc(slices.Clone(numbers), func(number string) bool { return !strings.HasPrefix(number, letter) })
		for i, number := range of {
			assert.Equal(t, fmt.Sprintf("%s%03d", letter, i+1), number, "the numbers of a letter ascend without gaps")
		}
	}

	named, mentioned := casesOfTests(t)
	for _, number := range numbers {
		if strings.HasPrefix(number, "L") {
			continue // suites have some of them in files that are no tests; .ci/run counts those that passed
		}
		assert.NotEmpty(t, named[number], "%s is in no name of a test", number)
	}
	for number, file := range mentioned {
		if strings.HasPrefix(number, "L") {
			continue // not every test of the ledger has a line yet
		}
		assert.True(t, slices.Contains(numbers, number), "%s has the number %s, which no case has", file, number)
	}
}

// numberedCases returns the numbers in the order of the file of cases.
func numberedCases(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(casesFile)
	require.NoError(t, err)
	var numbers []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		match := caseLine.FindStringSubmatch(line)
		require.NotNil(t, match, "a number, a space and a claim: %q", line)
		numbers = append(numbers, match[1])
	}
	require.NotEmpty(t, numbers)
	return numbers
}

// casesOfTests returns, for the numbers that names of tests carry and for those
// that occur anywhere in tests, a file that has them.
func casesOfTests(t *testing.T) (named, mentioned map[string]string) {
	t.Helper()
	named, mentioned = make(map[string]string), make(map[string]string)
	for file, text := range filesOfTree(t, isTest) {
		for _, number := range caseNumber.FindAllString(strings.ReplaceAll(text, "RFC3339", ""), -1) {
			mentioned[number] = file
		}
		for _, name := range caseName.FindAllString(text, -1) {
			for _, number := range caseNumber.FindAllString(name, -1) {
				named[number] = file
			}
		}
	}
	return named, mentioned
}

func isTest(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".test.js") ||
		file == "testdata/conformance/answers.json"
}

// filesOfTree returns the texts of the files of the repository that are wanted,
// by their paths below its root.
func filesOfTree(t *testing.T, wanted func(file string) bool) map[string]string {
	t.Helper()
	files := make(map[string]string)
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules"}, path.Base(file)):
			return fs.SkipDir
		case entry.IsDir() || !wanted(file):
			return nil
		}
		text, err := fs.ReadFile(root, file)
		files[file] = string(text)
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}
