package site

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// PollEvery is how often a test checks a condition that must become true.
const PollEvery = 20 * time.Millisecond

// asker is a Site or a Process.
type asker interface {
	Ask(path, body string, headers ...string) Reply
	tb() testing.TB
}

// StatusNow returns the status of a chat request with a key.
func StatusNow(a asker, key string) int {
	a.tb().Helper()
	return a.Ask(ChatPath, BodyFor(ChatPath, "m", "hi", false), "Authorization", "Bearer "+key).Status
}

// Status is StatusNow once the gateway can decide: on a busy machine its store
// may not have been polled for a while.
func Status(a asker, key string) (status int) {
	a.tb().Helper()
	assert.Eventually(a.tb(), func() bool {
		status = StatusNow(a, key)
		return status != http.StatusServiceUnavailable
	}, Patience, PollEvery)
	return status
}

// WaitStatus waits until requests with a key get a status.
func WaitStatus(a asker, key string, status int) {
	a.tb().Helper()
	assert.Eventually(a.tb(), func() bool { return StatusNow(a, key) == status }, Patience, PollEvery)
}
