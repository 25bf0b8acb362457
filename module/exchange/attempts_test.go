package exchange

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The number of attempts was counted up when an attempt began, and put back by hand in three
// places: for a second API key, for a repeated call, and for a target that took no request.
func TestAttemptsAreTargetsThatWereAsked(t *testing.T) {
	var c Course
	assert.Zero(t, c.Attempts())
	first := new(Conduit)
	c.Begin(first, 0)
	assert.Equal(t, 1, c.Attempts(), "while it runs")
	c.Begin(&Conduit{Attempt: Attempt{Choice: Repeated}}, 1)
	assert.Equal(t, 1, c.Attempts(), "the same target with another key")
	unasked := &Conduit{Result: Result{State: Unasked}}
	c.Begin(unasked, 1)
	assert.Equal(t, 1, c.Attempts(), "a target that cannot take the request")
	c.Begin(new(Conduit), 1)
	assert.Equal(t, 2, c.Attempts())
	c.AnswerItself()
	assert.Equal(t, 2, c.Attempts(), "the gateway answers after two attempts")
}
