package gateway

import (
	"net/url"
	"slices"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func paged(t *testing.T, ids []string, query string) (cut []string, more bool) {
	t.Helper()
	values, _ := url.ParseQuery(query)
	cut, more, fault := page(ids, formats.Of(translate.Messages).Models.Paging, values)
	require.Nil(t, fault, query)
	return cut, more
}

func TestPageCutsWhatTheQueryAsksFor(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e"}
	for _, test := range []struct {
		query string
		want  []string
		more  bool
	}{
		{"", ids, false},
		{"limit=5", ids, false},
		{"limit=4", ids[:4], true},
		{"limit=1000", ids, false},
		{"limit=2&after_id=b", ids[2:4], true},
		{"limit=2&after_id=c", ids[3:], false},
		{"after_id=e", nil, false},
		{"after_id=bb", ids[2:], false},
		{"limit=2&before_id=d", ids[1:3], true},
		{"limit=2&before_id=c", ids[:2], false},
		{"limit=9&before_id=c", ids[:2], false},
		{"before_id=a", nil, false},
		{"limit=1&before_id=zz", ids[4:], true},
		{"after_id=", ids, false},
	} {
		cut, more := paged(t, ids, test.query)
		assert.Equal(t, len(test.want), len(cut), test.query)
		assert.True(t, slices.Equal(test.want, cut), "%s: %v", test.query, cut)
		assert.Equal(t, test.more, more, test.query)
	}
}

func TestPagingForwardsAndBackwardsMeetsEveryModelOnce(t *testing.T) {
	var ids []string
	for c := 'a'; c <= 'z'; c++ {
		ids = append(ids, string(c))
	}
	for _, limit := range []string{"1", "7", "20", "26"} {
		forwards, more := paged(t, ids, "limit="+limit)
		for rounds := 0; more && rounds < len(ids); rounds++ {
			var cut []string
			cut, more = paged(t, ids, "limit="+limit+"&after_id="+forwards[len(forwards)-1])
			forwards = slices.Concat(forwards, cut)
		}
		backwards, more := paged(t, ids, "limit="+limit+"&before_id=zz")
		for rounds := 0; more && rounds < len(ids); rounds++ {
			var cut []string
			cut, more = paged(t, ids, "limit="+limit+"&before_id="+backwards[0])
			backwards = slices.Concat(cut, backwards)
		}
		assert.Equal(t, ids, forwards, limit)
		assert.Equal(t, ids, backwards, limit)
	}
}

func TestPageRefusesOtherLimits(t *testing.T) {
	for _, limit := range []string{"0", "-1", "1001", "x", "1.0", "", "99999999999999999999"} {
		_, _, fault := page(nil, formats.Of(translate.Messages).Models.Paging, url.Values{"limit": {limit}})
		if assert.NotNil(t, fault, limit) {
			assert.Equal(t, "limit: must be an integer from 1 to 1000", fault.Message)
		}
	}
}
