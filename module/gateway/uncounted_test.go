package gateway

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAProviderIsAskedForCountsAgainAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u uncounted
		assert.False(t, u.has("m"))
		u.add("m")
		assert.True(t, u.has("m"))
		assert.False(t, u.has("other"))
		time.Sleep(askAgainAfter - time.Second)
		assert.True(t, u.has("m"))
		time.Sleep(time.Second)
		assert.False(t, u.has("m"))
	})
}

func TestModelsThatAreNotCountedAreBounded(t *testing.T) {
	var u uncounted
	for i := range 2 * maxUncounted {
		u.add(strconv.Itoa(i))
	}
	assert.Len(t, u.until, maxUncounted)
	assert.True(t, u.has(strconv.Itoa(2*maxUncounted-1)))
}
