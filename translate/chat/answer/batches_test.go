package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// A final status that came before the file with the results was the end of a batch without answers, which cost
// nothing for good.
func TestABatchWithAnswersEndsWithItsFile(t *testing.T) {
	const file = `,"output_file_id":"file-1"`
	for batch, want := range map[string]translate.ObjectEnd{
		`"status":"completed","output_file_id":null,"request_counts":{"total":1,"completed":1,"failed":0}`:  {},
		`"status":"completed","request_counts":{"total":2,"completed":0,"failed":1}`:                        {},
		`"status":"completed","request_counts":{"total":0,"completed":0,"failed":0}`:                        {},
		`"status":"completed","request_counts":null`:                                                        {},
		`"status":"expired","error_file_id":"file-2","request_counts":{"total":3,"completed":1,"failed":1}`: {},
		`"status":"cancelled","request_counts":{"total":3,"completed":1,"failed":0}`:                        {},
		`"status":"failed","output_file_id":"","request_counts":{"total":3,"completed":1,"failed":2}`:       {},
		`"status":"cancelled","request_counts":null`:                                                        {},
		`"status":"in_progress","request_counts":{"total":1,"completed":1,"failed":0}` + file:               {},
		`"status":"completed","request_counts":{"total":2,"completed":0,"failed":2}`:                        {Ended: true, Unanswered: translate.Unanswered{Errored: 2}},
		`"status":"failed","request_counts":null`:                                                           {Ended: true},
		`"status":"failed","request_counts":{"total":0,"completed":0,"failed":0}`:                           {Ended: true},
		`"status":"cancelled","request_counts":{"total":3,"completed":0,"failed":1}`:                        {Ended: true, Unanswered: translate.Unanswered{Errored: 1, Canceled: 2}},
		`"status":"completed","request_counts":{"total":3,"completed":2,"failed":1}` + file:                 {Ended: true, Results: "file-1", Answered: 2, Unanswered: translate.Unanswered{Errored: 1}},
		`"status":"completed","request_counts":{"total":3,"completed":3,"failed":1}` + file:                 {Ended: true, Results: "file-1", Answered: 2, Unanswered: translate.Unanswered{Errored: 1}},
		`"status":"completed"` + file:                                                                       {Ended: true, Results: "file-1", Answered: 1},
	} {
		assert.Equal(t, want, Ended([]byte(`{"object":"batch",`+batch+`}`)), batch)
	}
}
