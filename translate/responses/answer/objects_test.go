package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
)

// Only ids that open something at the provider are replaced, wherever an answer has them.
func TestTheIDsOfStoredObjectsAreReplaced(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"resp_1","object":"response"}`:                                                               `{"id":"<resp_ resp_1>","object":"response"}`,
		`{"object":"response","previous_response_id":"resp_0","id":"x"}`:                                    `{"object":"response","previous_response_id":"<resp_ resp_0>","id":"<resp_ x>"}`,
		`{"id":"resp_1","conversation":{"id":"conv_1"},"object":"response"}`:                                `{"id":"<resp_ resp_1>","conversation":{"id":"<conv_ conv_1>"},"object":"response"}`,
		`{"id":"resp_1","conversation":"conv_1","object":"response"}`:                                       `{"id":"<resp_ resp_1>","conversation":"<conv_ conv_1>","object":"response"}`,
		`{"id":"resp_1","previous_response_id":null,"conversation":null,"object":"response"}`:               `{"id":"<resp_ resp_1>","previous_response_id":null,"conversation":null,"object":"response"}`,
		`{"id":"resp_1","object":"response.deleted","deleted":true}`:                                        `{"id":"<resp_ resp_1>","object":"response.deleted","deleted":true}`,
		`{"id":"conv_1","object":"conversation","created_at":1}`:                                            `{"id":"<conv_ conv_1>","object":"conversation","created_at":1}`,
		`{"type":"response.created","response":{"id":"resp_1","object":"response","output":[]}}`:            `{"type":"response.created","response":{"id":"<resp_ resp_1>","object":"response","output":[]}}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","delta":"resp_1"}`:                          `{"type":"response.output_text.delta","item_id":"msg_1","delta":"resp_1"}`,
		`{"object":"list","first_id":"msg_1","data":[{"id":"msg_1","object":"response"}],"has_more":false}`: `{"object":"list","first_id":"msg_1","data":[{"id":"msg_1","object":"response"}],"has_more":false}`,
		`{"object":"response","output":[{"id":"rs_1","response":{"id":"resp_2"}}],"id":""}`:                 `{"object":"response","output":[{"id":"rs_1","response":{"id":"resp_2"}}],"id":""}`,
		`{"object":"response","id":7}`:                                                                      `{"object":"response","id":7}`,
		`[1]`:                                                                                               `[1]`,
		`{"object":"response","id":"resp_\u0031"`:                                                           `{"object":"response","id":"<resp_ resp_1>"`,
	} {
		edits := answer.IDs.Edit(nil, []byte(body), translate.ObjectNames{ID: func(dst []byte, kind string, id []byte) []byte {
			return append(append(append(append(append(dst, '<'), kind...), ' '), id...), '>')
		}})
		assert.Equal(t, want, string(edit.Apply(nil, []byte(body), edits)))
	}
}
