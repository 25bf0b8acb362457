package billing

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// A key that has used any number of models has as many costs by day and model, all of
// which were read into memory.
func TestTooManyDailyCostsNameTheParameter(t *testing.T) {
	f := usageFault(fmt.Errorf("adding up usage: %w", accounting.ErrManySums))
	assert.Equal(t, http.StatusBadRequest, f.Status())
	assert.Equal(t, "start_date", f.Param)
	assert.Equal(t, http.StatusServiceUnavailable, usageFault(aigateway.ErrUnavailable).Status())
}
