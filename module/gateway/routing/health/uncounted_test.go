package health

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAProviderIsAskedForCountsAgainAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u Uncounted
		assert.False(t, u.Has("m"))
		u.Add("m")
		assert.True(t, u.Has("m"))
		assert.False(t, u.Has("other"))
		time.Sleep(AskAgainAfter - time.Second)
		assert.True(t, u.Has("m"))
		time.Sleep(time.Second)
		assert.False(t, u.Has("m"))
	})
}

func TestModelsThatAreNotCountedAreBounded(t *testing.T) {
	var u Uncounted
	for i := range 2 * maxUncounted {
		u.Add(strconv.Itoa(i))
	}
	assert.Len(t, u.ends, maxUncounted)
	assert.True(t, u.Has(strconv.Itoa(2*maxUncounted-1)))
}
