package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// images are requests with one image each: in bytes, at an address, of a rare type, and in the
// result of a tool.
var images = []struct {
	name string
	from translate.Format
	body string
	path string // of the loss
}{
	{"in bytes", translate.Messages, conversation(`{"role":"user","content":[` + png + `}]}`), "messages.*.content.*.type"},
	{"at an address", translate.Messages, conversation(`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x/i.png"}}]}`), "messages.*.content.*.type"},
	{"of a tool", translate.Messages, returned(`,"content":[` + png + `}]`).body, "messages.*.content.*.content.*.type"},
	{"in bytes", translate.Chat, pictured(somePicture).body, "messages[*].content[*].type"},
	{"at an address", translate.Chat, pictured(someAddress).body, "messages[*].content[*].type"},
	{"of a rare type", translate.Chat, pictured(`"url":"data:image/tiff;base64,AAAA"`).body, "messages[*].content[*].type"},
	{"in bytes", translate.Responses, showing(`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`).body, "input[*].content[*].type"},
	{"at an address", translate.Responses, showing(`{"type":"input_image","image_url":"https://x/i.png"}`).body, "input[*].content[*].type"},
	{"in bytes", translate.Gemini, ofParts(`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`).body, "contents[*].parts[*].inlineData"},
	{"at an address", translate.Gemini, ofParts(`{"fileData":{"mimeType":"image/png","fileUri":"https://x/i.png"}}`).body, "contents[*].parts[*].fileData"},
}

// A model that sees no images gets the rest of a conversation that has some, or the next target
// is asked.
func TestImagesForModelsThatSeeNone(t *testing.T) {
	for _, image := range images {
		_, wrong := formats.Of(image.from).Requests.Inspect([]byte(image.body), translate.Generate)
		require.Nil(t, wrong, image.body)
		for _, to := range spoken {
			if !pairs.CanTranslate(image.from, to) {
				continue
			}
			t.Run(image.name+" from "+string(image.from)+" to "+string(to), func(t *testing.T) {
				render := func(traits string) (string, core.Rendered, *fault.Fault) {
					info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traitsOf(t, traits), Seals: sealer}
					out, r, refused := pairs.Render(nil, image.from, to, []byte(image.body), info)
					return string(out), r, refused
				}
				tools := "unsupported_tools drop;" // of the request with the result of one
				out, r, refused := render(tools + "images drop")
				if to == translate.Completions && strings.Contains(image.body, "tool_result") {
					require.NotNil(t, refused, "the format has no results")
					return
				}
				require.Nil(t, refused)
				assert.Equal(t, 1, strings.Count(out, "[image was left out: this model does not support image input]"), out)
				assert.NotContains(t, out, "AAAA")
				assert.NotContains(t, out, "i.png")
				assert.Contains(t, lossesOf(r.Losses), image.path+" shaping")
				root := image.path[:strings.IndexAny(image.path, ".[")]
				assert.Equal(t, 1, strings.Count(lossesOf(r.Losses), root), "one image is one loss")
				assert.False(t, r.Answer.Input.Images)
				requireRight(t, to, []byte(out))

				_, _, refused = render("images false")
				require.NotNil(t, refused)
				if to != translate.Completions { // which has no images under any trait
					assert.Equal(t, "images", refused.Log.Trait)
				}
			})
		}
	}
}
