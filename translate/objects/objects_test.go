package objects_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
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

// In requests and answers of models, ids are found by where they are, whatever they look like: an id of
// another kind, or one that is written otherwise, must not pass for a word of the vendor.
func TestReferencesAreFoundInTheirPlaces(t *testing.T) {
	kinds := map[string]bool{"file-": true, "cntr_": true, "skill_": true}
	for document, want := range map[string][]translate.ObjectID{
		`{"id":"file-ab","input":[{"id":"cntr_ab"}]}`:                             nil,
		`{"file_id":"vs_ab"}`:                                                     {{Path: "file_id", Kind: "file-", Span: translate.Span{Start: 11, End: 18}}},
		`{"file_id":"FILE-ab"}`:                                                   {{Path: "file_id", Kind: "file-", Span: translate.Span{Start: 11, End: 20}}},
		`{"container":"auto","skill_id":"pptx-2","conversation":"none"}`:          nil,
		`{"container":"cntr%5Fab"}`:                                               {{Path: "container", Kind: "cntr_", Span: translate.Span{Start: 13, End: 24}}},
		`{"container":{"id":"x"}}`:                                                {{Path: "container.id", Kind: "cntr_", Span: translate.Span{Start: 19, End: 22}}},
		`{"container":{"type":"auto"},"client_metadata":{"file_id":"x"}}`:         nil,
		`{"conversation":{"id":"conv_ab"},"video":{"id":"video_ab"}}`:             nil,
		`{"tools":[{"input_schema":{"file_id":"x"}}],"output_schema":{"id":"x"}}`: nil,
	} {
		found, err := objects.References([]byte(document), func(kind string) bool { return kinds[kind] })
		assert.NoError(t, err)
		assert.ElementsMatch(t, want, found, document)
	}
}

// The form of an address decided, not its host: Google's servers accept more forms of the address of a file than
// one, and a file of the web with the same form was no file for a client.
func TestAFileOfGeminiIsFoundByItsHost(t *testing.T) {
	const google = "https://generativelanguage.googleapis.com"
	for address, want := range map[string]bool{
		"files/f01": true, "/Files/f01": true, "v1beta/files/f01": true, "generativelanguage.googleapis.com/v1beta/files/f01": true,
		google + "/v1beta/files/f01": true, google + "/v1beta/files/f01?alt=media": true, google + "/v1beta/files/f01?key=k": true,
		google + "/v1beta/files/f01#x": true, google + "/v1beta/files/f01/": true, google + "/v1beta/files/f01:download": true,
		google + "/v1main/files/f01": true, google + "/v1beta//files/f01": true, google + "/v1beta/files%2Ff01": true, google + "/v1beta/%2566iles/f01": true,
		google + "/v1beta/Files/f01": true, " " + google + "/v1beta/files/f01": true, google + `\v1beta\files\f01`: true,
		"HTTPS://GenerativeLanguage.GoogleAPIs.com.:443/v1beta/files/f01": true, "//generativelanguage.googleapis.com/v1beta/files/f01": true,
		"https:generativelanguage.googleapis.com/v1beta/files/f01":     true,
		"https://gateway.example.com/base/v1beta/files/1abc?alt=media": true, // the gateway's own, or that of another proxy
		"https://www.example.com/v1/files/report.pdf":                  false,
		"https://www.example.com/files/report":                         false,
		"https://www.example.com/v1/files/a/b":                         false,
		"https://storage.googleapis.com/bucket/files/report.pdf":       false,
		"gs://bucket/v1/files/f01":                                     false,
		"https://www.youtube.com/watch?v=files/f01":                    false,
		google + "/v1beta/models/m":                                    false,
		"":                                                             false,
	} {
		assert.Equal(t, want, objects.IsGeminiFile(address), address)
	}
	// An address of a megabyte that is nothing but escapes of escapes kept a processor busy for minutes.
	assert.False(t, objects.IsGeminiFile(google+"/%"+strings.Repeat("25", 1<<19)))
	assert.True(t, objects.IsGeminiFile(google+"/v1beta/%"+strings.Repeat("25", 7)+"66iles/f01"))
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

// An address that the vendor calls was passed on beside the sealed ids of a request.
func TestAWebhookIsFoundByTheNamesOfVendors(t *testing.T) {
	for request, want := range map[string]string{
		`{"webhook":"https://a.example"}`:                                                       "webhook",
		`{"batch":{"webhookConfig":{"uris":["https://a.example"]}}}`:                            "webhookConfig",
		`{"prompt":"x","callBackUrl":"https://a.example"}`:                                      "callBackUrl",
		`{"list":[{"c\u0061llback_url":"https://a.example"}]}`:                                  "callback_url",
		`{"a":{"Notification_URL":"https://a.example"}}`:                                        "Notification_URL",
		`{"notify_url":"https://a.example"}`:                                                    "notify_url",
		`{"status_callback":"https://a.example"}`:                                               "status_callback",
		`{"postback-url":["https://a.example"]}`:                                                "postback-url",
		`{"hookUri":"https://a.example"}`:                                                       "hookUri",
		`{"web-hook":"https://a.example"}`:                                                      "web-hook",
		`{"callback.url":"https://a.example","webhook":"https://b.example"}`:                    "callback.url",
		`{"hooks":"x","notifications":true,"notification":"x","image_url":"https://a.example"}`: "",
		`{"hf_webhook":"https://a.example"}`:                                                    "hf_webhook",
		`{"webhook":null,"callback_id":"x","text":"webhook"}`:                                   "",
		`{"metadata":{"webhook":"x"},"tools":[{"parameters":{"properties":{"callback":{}}}}]}`:  "",
	} {
		assert.Equal(t, want, objects.Webhook([]byte(request)), request)
	}
}
