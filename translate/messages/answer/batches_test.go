package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A batch that had ended before it had the address of its results was downloaded, and cost nothing or what was
// reserved.
func TestABatchWithAnswersEndsWithItsAddress(t *testing.T) {
	for batch, ended := range map[string]bool{
		`"ended","results_url":null,"request_counts":{"succeeded":1}`:             false,
		`"in_progress","results_url":"https://x","request_counts":{}`:             false,
		`"ended","results_url":"https://x","request_counts":{"succeeded":1}`:      true,
		`"ended","results_url":null,"request_counts":{"succeeded":0,"errored":1}`: true,
		`"ended","request_counts":{"succeeded":1}`:                                true, // of a server without the member
	} {
		assert.Equal(t, ended, Ended([]byte(`{"type":"message_batch","processing_status":`+batch+`}`)).Ended, batch)
	}
}
