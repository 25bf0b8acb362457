package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The second name of an operation was not read, and nothing behind it: a batch that had ended never did for
// the gateway, and its charge stayed what was reserved.
func TestABatchMayHaveItsNameTwice(t *testing.T) {
	end := Ended([]byte(`{"name":"batches/1","metadata":{"name":"batches/1","state":"BATCH_STATE_SUCCEEDED"},"response":{"name":"batches/1","responsesFile":"files/2"}}`))
	assert.Equal(t, translate.ObjectEnd{Ended: true, Results: "files/2"}, end)
}
