package request

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read ahead is bounded, and stays the body of its request.
func TestBodiesAreReadAheadWithinBounds(t *testing.T) {
	posting := func(length, stated int64) (*http.Request, *strings.Reader) {
		body := strings.NewReader(strings.Repeat("x", int(length)))
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = stated
		return r, body
	}
	for name, tt := range map[string]struct {
		length, stated int64
		major          int
		left           int // unread bytes
	}{
		"none":                {0, 0, 1, 0},
		"the longest":         {longestAhead, longestAhead, 1, 0},
		"a longer one":        {longestAhead + 1, longestAhead + 1, 1, longestAhead + 1},
		"of unknown length":   {10, -1, 1, 0},
		"longer than known":   {longestAhead + 10, -1, 1, 9},
		"HTTP/2 notices ends": {10, 10, 2, 10},
	} {
		r, body := posting(tt.length, tt.stated)
		r.ProtoMajor = tt.major
		release, refused := ReadAhead(r)
		require.Nil(t, refused, name)
		assert.Equal(t, tt.left, body.Len(), name)
		release()
		whole, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		assert.Len(t, whole, int(tt.length), name)
	}

	r, _ := posting(10, 10)
	r.Body = http.MaxBytesReader(nil, r.Body, 5)
	_, refused := ReadAhead(r)
	require.NotNil(t, refused)
	assert.Equal(t, "request_too_large", refused.Code)

	for range mostAhead / longestAhead {
		r, _ := posting(longestAhead, longestAhead)
		release, refused := ReadAhead(r)
		require.Nil(t, refused)
		defer release()
	}
	r, body := posting(10, 10)
	_, refused = ReadAhead(r)
	assert.Nil(t, refused)
	assert.Equal(t, 10, body.Len(), "no more than 64 MiB at a time")
}
