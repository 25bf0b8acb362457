package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
)

func sealed(dst []byte, kind string, id []byte) []byte {
	return append(append(append(dst, '<'), kind...), id[max(0, len(id)-2):]...)
}

// Only named places are ids: a text of a user that looks like one is no id, and neither are the ids of
// items, which name nothing without their object.
func TestIDsAreThoseOfNamedMembers(t *testing.T) {
	for document, want := range map[string]string{
		`{"id":"file-ab","file_ids":["file-cd","x9"]}`:                                                   `{"id":"<file-ab","file_ids":["<file-cd","<file-x9"]}`,
		`{"id":"msg_ab","item":{"id":"rs_1"}}`:                                                           `{"id":"msg_ab","item":{"id":"rs_1"}}`,
		`{"text":"file-ab","name":"vs_ab","model":"ft:gpt"}`:                                             `{"text":"file-ab","name":"vs_ab","model":"ft:gpt"}`,
		`{"metadata":{"file_id":"a"},"parameters":{"id":"vs_ab"}}`:                                       `{"metadata":{"file_id":"a"},"parameters":{"id":"vs_ab"}}`,
		`{"input":[{"file_id":"file-ab"}]}`:                                                              `{"input":[{"file_id":"<file-ab"}]}`,
		`{"input":{"file_id":"of a tool"}}`:                                                              `{"input":{"file_id":"of a tool"}}`,
		`{"container":"auto","skill_id":"pptx","file":{"file_id":"file_ab"}}`:                            `{"container":"auto","skill_id":"pptx","file":{"file_id":"<file_ab"}}`,
		`{"f\u0069le_id":"file\u002dab"}`:                                                                `{"f\u0069le_id":"<file-ab"}`,
		`{"file_id":null,"container_id":7,"result_files":[]}`:                                            `{"file_id":null,"container_id":7,"result_files":[]}`,
		`{"results_url":"https://x.example/v1/messages/batches/msgbatch_ab/results","id":"msgbatch_ab"}`: `{"results_url":"/v1/messages/batches/%3Cmsgbatch_ab/results","id":"<msgbatch_ab"}`,
		`{"results_url":"https://x.example/elsewhere"}`:                                                  `{"results_url":"https://x.example/elsewhere"}`,
		`[DONE]`: `[DONE]`,
	} {
		got := edit.Apply(nil, []byte(document), objects.EditIDs(nil, []byte(document), sealed))
		assert.Equal(t, want, string(got))
	}
}

// Another reader could take the second of two members with one name.
func TestADocumentThatRepeatsAMemberHasNoIDs(t *testing.T) {
	_, err := objects.IDs([]byte(`{"file_id":"file-ab","file_id":"file-cd"}`))
	assert.Error(t, err)
	_, err = objects.IDs([]byte(`{"file_id":"file-ab"} x`))
	assert.Error(t, err)
}

func TestPathsOfObjectsAreFoundWhole(t *testing.T) {
	for request, known := range map[[2]string]bool{
		{"GET", "/v1/files/file-ab"}: true, {"HEAD", "/v1/files/file-ab/content"}: true, {"DELETE", "/files/file-ab"}: true, {"POST", "/v1/uploads/upload_a/parts"}: true,
		{"PUT", "/v1/files/file-ab"}: false, {"POST", "/v1/files/file-ab"}: false, {"GET", "/v1/files/file-ab/other"}: false, {"GET", "/v1/files//content"}: false,
		{"GET", "/v1/x/files/file-ab"}: false, {"GET", "/v1/Files/file-ab"}: false, {"GET", "/v1/threads/t"}: false, {"GET", "/"}: false,
	} {
		assert.Equal(t, known, objects.Find(request[0], request[1]) != nil, request)
	}
}
