package jsonscan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// walked reads every value of the document.
func walked(document string) error {
	c := jsonscan.New([]byte(document))
	walk(&c)
	return c.Finish()
}

func TestDuplicateMembersAreRefused(t *testing.T) {
	for _, tc := range []struct {
		document, name string
		offset         int
	}{
		{`{"model":1,"model":2}`, "model", 11},
		{`{"model":1,"MODEL":2}`, "MODEL", 11},
		{`{"model":1,"mod\u0065l":2}`, "model", 11},
		{`{"model":1,"x":1,"\u004dodel":2}`, "Model", 17},
		{`{"stop":1,"ſtop":2}`, "ſtop", 10},    // long s
		{`{"top_k":1,"top_K":2}`, "top_K", 11}, // Kelvin sign
		{`{"ß":1,"ẞ":2}`, "ẞ", 8},
		{`{"Σ":1,"ς":2}`, "ς", 8},
		{`{"":1,"":2}`, "", 6},
		{`{"\ud800":1,"\udfff":2}`, "\ufffd", 12}, // both decode to U+FFFD
		{`[{"a":1},{"a":{"b":1,"B":2}}]`, "B", 21},
		{`{"a":{"x":1},"b":{"x":1},"A":1}`, "A", 25},
	} {
		var duplicate *jsonscan.DuplicateError
		if assert.ErrorAs(t, walked(tc.document), &duplicate, tc.document) {
			assert.Equal(t, tc.name, duplicate.Name, tc.document)
			assert.Equal(t, tc.offset, duplicate.Offset, tc.document)
			assert.True(t, strings.EqualFold(duplicate.First, tc.name), tc.document)
		}
	}
}

func TestMembersThatOnlyLookAlikeAreAccepted(t *testing.T) {
	for _, document := range []string{
		`{"a":{"a":{"a":1}},"b":{"a":1}}`,
		`[{"a":1},{"a":1}]`,
		`{"@":1,"` + "`" + `":2}`, // the names differ in the bit of letter case, but are not letters
		`{"[":1,"{":2}`,
		`{"ss":1,"ß":2}`, // equal by full folding only
		`{"I":1,"ı":2,"İ":3}`,
		`{"a":1,"á":2}`, // no normal form is applied
	} {
		assert.NoError(t, walked(document), document)
	}
}

// mapped reads an object whose names are free.
func mapped(document string) error {
	c := jsonscan.New([]byte(document))
	for c.EnterMap(); c.Member(); {
		walk(&c)
	}
	return c.Finish()
}

// Names of free objects that differ in letter case were refused as if they were
// one, though no reader of such an object takes them for the same.
func TestLetterCaseCountsInMaps(t *testing.T) {
	assert.NoError(t, mapped(`{"Team":1,"team":2,"TEAM":{"x":1}}`))
	for _, tc := range []struct {
		document, first string
		inMap           bool
	}{
		{`{"Team":1,"team":2,"team":3}`, "team", true},
		{`{"team":1,"\u0074eam":2}`, "team", true},
		{`{"a":{"x":1},"b":{"x":1},"a":[1]}`, "a", true},
		{`{"Team":{"a":1,"A":2},"team":3}`, "a", false}, // an object in a map is none
	} {
		var duplicate *jsonscan.DuplicateError
		if assert.ErrorAs(t, mapped(tc.document), &duplicate, tc.document) {
			assert.Equal(t, tc.first, duplicate.First, tc.document)
			assert.Equal(t, tc.inMap, duplicate.InMap, tc.document)
		}
	}
}

// Names that fold to one would all have one hash: a search among them that
// ignores letter case would take hours here.
func TestAMapOfNamesThatFoldToOneIsReadInLinearTime(t *testing.T) {
	var document strings.Builder
	for i := range 1 << 17 {
		name := []byte("abcdefghijklmnopq")
		for bit := range name {
			if i>>bit&1 == 1 {
				name[bit] -= 'a' - 'A'
			}
		}
		fmt.Fprintf(&document, `,"%s":1`, name)
	}
	assert.NoError(t, mapped("{"+document.String()[1:]+"}"))
	assert.Error(t, mapped("{"+document.String()[1:]+`,"abcdefghijklmnopq":1}`))
}

func TestSkippedObjectsAreNotSearchedForDuplicates(t *testing.T) {
	assert.NoError(t, check(`{"a":1,"a":2,"A":{"b":1,"b":2}}`))
}

// crowded is an object of n members, in which every tenth holds a small object.
func crowded(n int) []string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"Name%d":%d`, i, i)
		if i%10 == 0 {
			members[i] = fmt.Sprintf(`"Name%d":{"name1":1,"name2":{"name1":%d}}`, i, i)
		}
	}
	return members
}

func TestDuplicatesAreFoundHoweverManyMembersThereAre(t *testing.T) {
	for _, n := range []int{1, 2, 31, 32, 33, 34, 47, 48, 49, 50, 100, 1000} {
		members := crowded(n)
		assert.NoError(t, walked("{"+strings.Join(members, ",")+"}"), n)
		for _, i := range []int{0, n / 2, n - 1} {
			repeated := append(members[:n:n], fmt.Sprintf(`"nAmE%d":1`, i))
			var duplicate *jsonscan.DuplicateError
			assert.ErrorAs(t, walked("{"+strings.Join(repeated, ",")+"}"), &duplicate, "%d of %d", i, n)
		}
	}
}

func TestCrowdedObjectsInsideEachOtherAreKeptApart(t *testing.T) {
	inner := "{" + strings.Join(crowded(60), ",") + "}"
	middle := `{"inner":` + inner + "," + strings.Join(crowded(40), ",") + `,"more":` + inner + "}"
	outer := `{"middle":` + middle + "," + strings.Join(crowded(50), ",")
	assert.NoError(t, walked(outer+"}"))
	var duplicate *jsonscan.DuplicateError
	assert.ErrorAs(t, walked(outer+`,"MIDDLE":1}`), &duplicate)
	assert.NoError(t, walked("["+inner+","+middle+","+outer+"}]"))
}

// A search that compares each name with all earlier ones would take hours here.
func TestAnObjectOfManyMembersIsReadInLinearTime(t *testing.T) {
	document := "{" + strings.Join(crowded(200_000), ",") + "}"
	assert.NoError(t, walked(document))
	require.Error(t, walked(document[:len(document)-1]+`,"name150001":1}`))
}

// Names are hashed in words. A name is found again whatever its length, also if the second
// one has an escape or is at the end of the document, where it is hashed in another way.
// It differs from the same name with another last letter or with one more.
func TestNamesOfAllLengthsAreCompared(t *testing.T) {
	for n := 1; n <= 30; n++ {
		name := strings.Repeat("abcdefg", 5)[:n]
		for _, again := range []string{name, strings.ToUpper(name), `\u0061` + name[1:], name[:n-1] + `\u00` + fmt.Sprintf("%x", name[n-1])} {
			var twice *jsonscan.DuplicateError
			require.ErrorAs(t, walked(`{"`+name+`":1,"`+again+`":2}`), &twice, again)
			require.ErrorAs(t, walked(`{"`+name+`":1,"`+again+`":2,"another name":[null]}`), &twice, again)
		}
		assert.NoError(t, walked(`{"`+name+`":1,"`+name[:n-1]+`z":2,"`+name+name[n-1:]+`":3}`), name)
	}
}
