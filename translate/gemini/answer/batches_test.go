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
	assert.Equal(t, translate.ObjectEnd{Ended: true, Results: "files/2", Answered: 1}, end)
}

// A batch that had failed, or was cancelled, before its results were there cost what was reserved, although they
// came.
func TestABatchWithAnswersEndsWithItsResults(t *testing.T) {
	for batch, ended := range map[string]bool{
		`"state":"BATCH_STATE_SUCCEEDED"`: false,
		`"state":"BATCH_STATE_CANCELLED","batchStats":{"requestCount":"3","successfulRequestCount":"1"}`:                                   false,
		`"state":"BATCH_STATE_EXPIRED","batchStats":{"requestCount":"3","successfulRequestCount":"1"}`:                                     false,
		`"state":"BATCH_STATE_FAILED","batchStats":{"requestCount":"3","failedRequestCount":"3"}`:                                          true,
		`"state":"BATCH_STATE_FAILED","batchStats":{"requestCount":"3","successfulRequestCount":"1"},"output":{"responsesFile":"files/2"}`: true,
	} {
		assert.Equal(t, ended, Ended([]byte(`{"name":"batches/1","metadata":{`+batch+`}}`)).Ended, batch)
	}
}
