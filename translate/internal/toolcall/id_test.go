package toolcall_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
)

func TestToolIDsComeBackAsTheProviderGaveThem(t *testing.T) {
	allowed := regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	for _, id := range []string{
		"call_abc", "toolu_01-X", "functions.f:0", "é", " ", strings.Repeat("a", 64), strings.Repeat("a", 65), "gwid1_", "gwid1", "gwid1_Zjow", "\x00\xff",
	} {
		shown := string(toolcall.AppendID(nil, []byte(id)))
		assert.Regexp(t, allowed, shown)
		assert.Equal(t, id, string(toolcall.AppendOriginalID(nil, []byte(shown))), shown)
	}
	assert.Equal(t, "call_abc", string(toolcall.AppendID(nil, []byte("call_abc"))))
	assert.Equal(t, "gwid1_ZnVuY3Rpb25zLmY6MA", string(toolcall.AppendID(nil, []byte("functions.f:0"))))
}

func TestToolIDsOfOthersAreLeftAlone(t *testing.T) {
	for _, id := range []string{"", "gwid1_", "gwid1_%", "gwid1_Z", "gwid2_Zg", "x gwid1_Zg"} {
		assert.Equal(t, "<"+id, string(toolcall.AppendOriginalID([]byte("<"), []byte(id))))
	}
}

func TestToolNamesAreShortenedAlwaysAlike(t *testing.T) {
	long := strings.Repeat("n", 90)
	for _, c := range []struct{ name, want string }{
		{"Read", "Read"},
		{strings.Repeat("n", 64), strings.Repeat("n", 64)},
		{long, strings.Repeat("n", 55) + "_4d940755"},
		{"web.search/x", "websearchx_70215b81"},
	} {
		assert.Equal(t, "<"+c.want, string(toolcall.AppendName([]byte("<"), []byte(c.name))))
	}
	assert.NotEqual(t, toolcall.AppendName(nil, []byte(long+"a")), toolcall.AppendName(nil, []byte(long+"b")))
}

// Each of many calls with the same id was once numbered from 2 on: an answer of some
// hundred kilobytes kept a processor busy for seconds. The test counts allocations
// instead of time.
func TestManyCallsWithOneIDCostNoMoreEach(t *testing.T) {
	steps := func(calls int) float64 {
		return testing.AllocsPerRun(1, func() {
			var ids toolcall.IDs
			seen := make(map[string]bool, calls)
			for range calls {
				seen[string(ids.Show([]byte("a"), nil, toolcall.AsIs, nil))] = true
			}
			assert.Len(t, seen, calls)
		})
	}
	assert.Less(t, steps(2000), 3*steps(1000))
}

func TestNumberedIDsKeepClearOfThoseThatTheProviderGave(t *testing.T) {
	var ids toolcall.IDs
	var shown []string
	for _, id := range []string{"a", "a_2", "a", "a", "a_2"} {
		shown = append(shown, string(ids.Show([]byte(id), nil, toolcall.AsIs, nil)))
	}
	assert.Equal(t, []string{"a", "a_2", "a_3", "a_4", "a_2_2"}, shown)
}

// A conversation whose ids were the numbered ones of a call once cost the square of their number
// with each call of the answer: the ids of the request were searched one by one.
func TestAnIDFindsItsNumberAmongManyOfTheRequest(t *testing.T) {
	var history toolcall.History
	const many = 100_000
	for n := many; n > 1; n-- {
		history.Call([]byte("a_gw" + strconv.Itoa(n)))
	}
	history.Call([]byte("a"))
	earlier := history.Hashes()
	assert.True(t, slices.IsSorted(earlier))
	var ids toolcall.IDs
	assert.Equal(t, "a_gw"+strconv.Itoa(many+1), string(ids.Show([]byte("a"), nil, toolcall.AsIs, earlier)))
	assert.Equal(t, "b", string(ids.Show([]byte("b"), nil, toolcall.AsIs, earlier)))
}
