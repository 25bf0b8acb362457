package pairs_test

import (
	"cmp"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

const picturePixels = "iVBORw0KGgo="

// imagesOf are answers with an image and without, whose names are in reports of losses.
var imagesOf = map[translate.Format]map[string]content{
	translate.Chat: {
		"images":    {`"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picturePixels + `"}}]`, `"images":[{"type":"image_url","image_url":{"url":"data:image\/png;base64,` + picturePixels + `"}}]`},
		"image_url": {`"content":[{"type":"image_url","image_url":"data:image/png;base64,` + picturePixels + `"}]`, `"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picturePixels + `"}}]`},
	},
	translate.Gemini: {"inlineData": {
		`{"inlineData":{"mimeType":"image/png","data":"` + picturePixels + `"}}`, `{"inlineData":{"mimeType":"image/png","data":"` + picturePixels + `"}}`,
	}},
	translate.Responses: {"image_generation_call": {
		`{"type":"image_generation_call","id":"ig_1","status":"completed","result":"` + picturePixels + `","output_format":"png","quality":"low"}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"image_generation_call","id":"ig_1","status":"in_progress","result":null}}|` +
			`{"type":"response.image_generation_call.partial_image","output_index":0,"item_id":"ig_1","partial_image_index":0,"partial_image_b64":"AAAA"}|` +
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"image_generation_call","id":"ig_1","status":"completed","result":"` + picturePixels + `","output_format":"png"}}`,
	}},
	translate.Converse: {"image": {
		`{"image":{"format":"png","source":{"bytes":"` + picturePixels + `"}}}`,
		`contentBlockStart{"contentBlockIndex":1,"start":{"image":{"format":"png"}}}|contentBlockDelta{"contentBlockIndex":1,"delta":{"image":{"source":{"bytes":"` + picturePixels + `"}}}}|contentBlockStop{"contentBlockIndex":1}`,
	}},
}

// shownAs is how clients get an image; clients of other formats have no place for one.
var shownAs = map[translate.Format]string{
	translate.Chat:      `"images":[{"index":0,"type":"image_url","image_url":{"url":"data:image/png;base64,` + picturePixels + `"}}]`,
	translate.Gemini:    `{"inlineData":{"mimeType":"image/png","data":"` + picturePixels + `"}}`,
	translate.Responses: `"status":"completed","result":"` + picturePixels + `","output_format":"png"}`,
}

// answersWhole returns the translations of an answer that is whole.
func answersWhole(w way, c content) (all []outcome) {
	if w.source != translate.Responses {
		return endsOf(w, c, "stop")
	}
	whole := `{"model":"m","status":"completed","output":[` + c.part + `]}`
	stream := responsesStream(append(splitFragments(c), `{"type":"response.completed","response":`+whole+`}`)...)
	for _, streaming := range []bool{true, false} {
		all = append(all, translated(w, w.remembered(streaming), [][]byte{stream}, true), answered(w, w.remembered(streaming), []byte(whole)))
	}
	return all
}

// An image that a model had made was left out without a word, and its tokens were charged: the
// client read an empty answer.
func TestAnImageIsCarriedOrAnError(t *testing.T) {
	for _, w := range ways {
		for name, c := range imagesOf[w.source] {
			for _, o := range answersWhole(w, c) {
				shown, hasPlace := shownAs[w.target]
				if hasPlace {
					require.Nil(t, o.Fault(), "%s: %v", w.name(), o.Fault())
					assert.Contains(t, o.out, shown, w.name())
					assert.NotContains(t, o.Losses().String(), name)
					continue
				}
				require.NotNil(t, o.Fault(), "%s: %s", w.name(), name)
				assert.Contains(t, o.Fault().Message, name)
				assert.Equal(t, 502, o.Fault().Status())
				assert.False(t, o.Fault().IsUnusable(), "the provider has kept to its format")
				requireUnfinished(t, o)
			}
		}
	}
}

// Servers write data URLs and base64 in several ways, and clients read one.
func TestImagesOfAnswersAreReadInAnySpelling(t *testing.T) {
	const url = `data:image/png;base64,` + picturePixels
	for _, spelling := range []*strings.Replacer{
		strings.NewReplacer(picturePixels, strings.TrimRight(picturePixels, "=")),
		strings.NewReplacer(picturePixels, `iVBORw0K\n  Ggo=`),
		strings.NewReplacer(url, `DATA:image/png;BASE64,`+picturePixels),
		strings.NewReplacer(url, `data:image/png,%89PNG%0D%0A%1A%0A`),
	} {
		for _, w := range ways {
			for _, c := range imagesOf[w.source] {
				spelled := content{spelling.Replace(c.part), spelling.Replace(c.fragments)}
				for i, o := range answersWhole(w, spelled) {
					require.Equal(t, answersWhole(w, c)[i].out, o.out, "%s: %s", w.name(), spelled.part)
				}
			}
		}
	}
}

// Beside a text, an image that has no place is a loss that is reported.
func TestAnImageBesideATextIsCarriedOrReported(t *testing.T) {
	for _, w := range ways {
		for name, c := range imagesOf[w.source] {
			if w.source == translate.Chat {
				if name != "images" {
					continue
				}
				c = content{`"content":"half",` + c.part[len(`"content":"",`):], `"content":"half",` + c.fragments}
			} else {
				c = content{someText[w.source].part + "," + c.part, someText[w.source].fragments + "|" + c.fragments}
			}
			if w.source == translate.Gemini {
				c.fragments = c.part
			}
			for _, o := range endsOf(w, c, "max_tokens") {
				require.Nil(t, o.Fault(), "%s: %v", w.name(), o.Fault())
				assert.Contains(t, o.out, "half")
				if shown, hasPlace := shownAs[w.target]; hasPlace {
					assert.Contains(t, o.out, shown, w.name())
				} else {
					assert.Contains(t, o.Losses().String(), name)
				}
			}
		}
	}
}

// unplaced are parts of answers that no client of another format has a place for, by the names in
// the errors.
var unplaced = map[translate.Format]map[string]string{
	translate.Messages: {
		"server_tool_use": `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`,
		"mcp_tool_use":    `{"type":"mcp_tool_use","id":"s1","name":"n","input":{}}`, "container_upload": `{"type":"container_upload","file_id":"f"}`,
	},
	translate.Chat: {
		"audio": `"audio":{"id":"a","data":"AAAA"}`, "input_audio": `"content":[{"type":"input_audio","input_audio":{"data":"AAAA"}}]`,
		"images": `"images":[{"type":"image_url","image_url":{"url":"file:///a.png"}}]`,
	},
	translate.Responses: {
		"web_search_call": `{"type":"web_search_call","id":"w","status":"completed"}`, "mcp_call": `{"type":"mcp_call","id":"w"}`,
		"code_interpreter_call": `{"type":"code_interpreter_call","id":"w","code":"1"}`,
	},
	translate.Gemini: {
		"executableCode": `{"executableCode":{"language":"PYTHON","code":"1"}}`, "fileData": `{"fileData":{"fileUri":"gs://a"}}`,
		"codeExecutionResult": `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}`, "novelty": `{"novelty":{"a":1}}`,
	},
	translate.Converse: {
		"document": `{"document":{"name":"d","format":"pdf","source":{"bytes":"AAAA"}}}`, "video": `{"video":{"format":"mp4"}}`,
		"audio": `{"audio":{"format":"wav"}}`, "image": `{"image":{"format":"png","source":{"s3Location":{"uri":"s3://a"}}}}`,
	},
}

// An answer of nothing but the code that a provider's own tool had run was an empty answer.
func TestAnAnswerWithoutAPlaceNamesWhatItWas(t *testing.T) {
	for _, w := range ways {
		for name, part := range unplaced[w.source] {
			c := content{part: part}
			switch w.source {
			case translate.Messages:
				c.fragments = `{"type":"content_block_start","index":0,"content_block":` + part + `}|{"type":"content_block_stop","index":0}`
			case translate.Responses:
				c.fragments = `{"type":"response.output_item.done","output_index":0,"item":` + part + `}`
			case translate.Converse: // whose streams have no such blocks
			default:
				c.fragments = part
			}
			for i, o := range answersWhole(w, c) {
				if w.source == translate.Converse && i%2 == 0 {
					continue
				}
				require.NotNil(t, o.Fault(), "%s: %s", w.name(), name)
				assert.Contains(t, o.Fault().Message, name)
				requireUnfinished(t, o)
			}
		}
	}
}

// A model's image that a service keeps at an address was lost, also for clients that take addresses.
func TestAnImageByAddressReachesClientsThatTakeOne(t *testing.T) {
	const address = `https://example.com/a.webp?x=1`
	linked := map[translate.Format]string{
		translate.Chat:   `"images":[{"type":"image_url","image_url":{"url":"` + address + `"}}]`,
		translate.Gemini: `{"fileData":{"mimeType":"image/webp","fileUri":"` + address + `"}}`,
	}
	shown := map[translate.Format]string{
		translate.Chat:   `"images":[{"index":0,"type":"image_url","image_url":{"url":"` + address + `"}}]`,
		translate.Gemini: linked[translate.Gemini],
	}
	for from, part := range linked {
		for _, w := range waysFrom(from) {
			for _, o := range answersWhole(w, content{part, part}) {
				if want, takes := shown[w.target]; takes {
					require.Nil(t, o.Fault(), w.name())
					assert.Contains(t, o.out, want, w.name())
					continue
				}
				require.NotNil(t, o.Fault(), w.name())
				requireUnfinished(t, o)
			}
		}
	}
	w := way{translate.Gemini, translate.Chat}
	for _, part := range []string{`{"fileData":{"mimeType":"video/mp4","fileUri":"https://example.com/a"}}`, `{"fileData":{"mimeType":"image/png"}}`} {
		for _, o := range answersWhole(w, content{part, part}) {
			require.NotNil(t, o.Fault(), part)
			assert.Contains(t, o.Fault().Message, "fileData")
		}
	}
}

// Sounds have a place where all media do.
func TestASoundIsCarriedToClientsThatTakeIt(t *testing.T) {
	whole := `{"modelVersion":"m","candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"AAAA"}}]},"finishReason":"STOP"}]}`
	for _, w := range waysFrom(translate.Gemini) {
		o := answered(w, w.remembered(false), []byte(whole))
		require.NotNil(t, o.Fault(), w.name())
		assert.Contains(t, o.Fault().Message, "inlineData")
	}
}

// Drafts among the thoughts are no images of the answer.
func TestAnImageOfAThoughtIsNoAnswer(t *testing.T) {
	whole := `{"modelVersion":"m","candidates":[{"content":{"parts":[{"thought":true,"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"a"}]},"finishReason":"STOP"}]}`
	for _, w := range waysFrom(translate.Gemini) {
		o := answered(w, w.remembered(false), []byte(whole))
		require.Nil(t, o.Fault(), w.name())
		assert.NotContains(t, o.out, "AAAA")
		assert.Contains(t, o.Losses().String(), "inlineData")
	}
}

// askingForImages are requests for images in each format that has some, each with the model that the
// provider knows, and the field that a refusal names.
var askingForImages = []struct {
	source             translate.Format
	body, model, field string
	alone              bool // not beside texts
}{
	{translate.Chat, talk(hi, `"modalities":["text","image"]`), "", "modalities", false},
	{translate.Chat, talk(hi, `"modalities":["image","text"]`), "", "modalities", false},
	{translate.Chat, talk(hi, `"modalities":["image"]`), "", "modalities", true},
	{translate.Gemini, configured(`"responseModalities":["TEXT","IMAGE"]`).body, "", "generationConfig.responseModalities", false},
	{translate.Gemini, configured(`"responseModalities":["Image"]`).body, "", "generationConfig.responseModalities", true},
	{translate.Gemini, configured(`"response_modalities":["MODALITY_UNSPECIFIED","image"]`).body, "", "generationConfig.responseModalities", true},
	{translate.Gemini, generating(`"generation_config":{"responseModalities":["image","text"]}`).body, "", "generationConfig.responseModalities", false},
	{translate.Responses, posing(`"tool_choice":{"type":"image_generation"}`).body, "", "tool_choice.type", false},
	{translate.Responses, arming(`"type":"image_generation","size":"auto"`, `"tool_choice":{"type":"image_generation"}`).body, "", "tool_choice.type", false},
	{translate.Responses, arming(`"type":"image_generation"`).body, "gemini-2.5-flash-image", "tools[*].type", false},
	{translate.Responses, arming(`"type":"image_generation"`, `"tool_choice":"auto"`).body, "gemini-3-pro-Image-preview", "tools[*].type", false},
	{translate.Responses, listing(`{"type":"additional_tools","tools":[{"type":"image_generation"}]}`).body, "gemini-2.5-flash-image", "input[*].tools[*].type", false},
}

// askedForAs is how requests for images arrive.
var askedForAs = map[translate.Format]string{
	translate.Chat: `"modalities":["image","text"]`, translate.Gemini: `"responseModalities":["TEXT","IMAGE"]`, translate.Responses: `"tools":[{"type":"image_generation"}]`,
}

// A client that asked for images, in a format other than the provider's, was refused or got none,
// although the model behind it makes them and the answer has a place for them.
func TestImagesAreAskedForWhereTheyCanBeMade(t *testing.T) {
	for _, ask := range askingForImages {
		for _, to := range spoken {
			if ask.source == to || !pairs.CanTranslate(ask.source, to) {
				continue
			}
			info := &core.RequestInfo{Model: "m1", Upstream: cmp.Or(ask.model, upstreamName(to)), Traits: new(trait.Traits), Seals: sealer}
			out, r, fault := pairs.Render(nil, ask.source, to, []byte(ask.body), info)
			want, can := askedForAs[to]
			if !can {
				if fault != nil {
					assert.Regexp(t, "^("+regexp.QuoteMeta(ask.field)+`|tools|input\[1\].tools): `, fault.Message, "%s; a format without tools refuses all", to)
				} else {
					assert.Contains(t, r.Losses.String(), ask.field, to)
				}
				continue
			}
			require.Nil(t, fault, "%s to %s: %v", ask.body, to, fault)
			if ask.alone && to == translate.Chat {
				want = `"modalities":["image"]` // models of images alone take nothing else
			}
			assert.Contains(t, string(out), want, ask.body)
			assert.NotContains(t, r.Losses.String(), ask.field)
			requireRight(t, to, out)
			back := way{to, ask.source}
			for _, image := range imagesOf[to] {
				o := answered(back, r.Answer, []byte(wholeAnswer(to, image.part)))
				require.Nil(t, o.Fault(), back.name())
				assert.Contains(t, o.out, shownAs[ask.source], back.name())
			}
		}
	}
}

// wholeAnswer returns an answer of a provider.
func wholeAnswer(source translate.Format, part string) string {
	switch source {
	case translate.Chat:
		return `{"model":"m","choices":[{"index":0,"message":{"role":"assistant",` + part + `},"finish_reason":"stop"}]}`
	case translate.Gemini:
		return `{"modelVersion":"m","candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP"}]}`
	default:
		return `{"model":"m","status":"completed","output":[` + part + `]}`
	}
}

// Agents name the tool that makes images in every request, also to models that make none and refuse
// a request for them.
func TestAToolForImagesAsksOnlyModelsThatMakeThem(t *testing.T) {
	const tool = `"type":"image_generation","size":"1024x1024","quality":"low"`
	for name, tt := range map[string]struct {
		body   sample
		model  string
		asks   bool
		losses string
	}{
		"another model":      {arming(tool), "gemini-3.5-flash", false, "tools[*].type"},
		"a model of images":  {arming(tool), "gemini-2.5-flash-image", true, "tools[*].size,tools[*].quality"},
		"no tool may be":     {arming(tool, `"tool_choice":"none"`), "gemini-2.5-flash-image", false, ""},
		"others may be":      {arming(tool+`},{"type":"function","name":"f"`, `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`), "gemini-2.5-flash-image", false, "tools[*].type"},
		"the choice":         {arming(tool, `"tool_choice":{"type":"image_generation"}`), "gemini-3.5-flash", true, "tools[*].size,tools[*].quality"},
		"beside a function":  {arming(tool + `},{"type":"function","name":"f"`), "gpt-5-Image-mini", true, "tools[*].size,tools[*].quality"},
		"a tool of searches": {arming(`"type":"web_search"`), "gemini-2.5-flash-image", false, "tools[*].type"},
	} {
		for _, to := range []translate.Format{translate.Chat, translate.Gemini} {
			info := &core.RequestInfo{Model: "m1", Upstream: tt.model, Traits: new(trait.Traits), Seals: sealer}
			out, r, fault := pairs.Render(nil, translate.Responses, to, []byte(tt.body.body), info)
			require.Nil(t, fault, name)
			assert.Equal(t, tt.asks, strings.Contains(string(out), askedForAs[to]), "%s: %s", name, out)
			assert.Contains(t, r.Losses.String(), tt.losses, name)
		}
	}
}

// The choice among the client's tools neither forces the tool that makes images nor forbids it.
func TestImagesAreNoChoiceAmongTools(t *testing.T) {
	const function, images = `{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}`, `{"type":"image_generation"}`
	for members, want := range map[string]string{
		``: `"tools":[` + images + `],"store"`,
		`,"tools":[{"type":"function","function":{"name":"f"}}]`:                          `"tools":[` + function + `,` + images + `],"store"`,
		`,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"`: `"tools":[` + function + `,` + images + `],"tool_choice":"required"`,
		`,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`:     `"tools":[` + images + `],"store"`,
		`,"tool_choice":"required"`: `"tools":[` + images + `],"store"`,
	} {
		info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: new(trait.Traits), Seals: sealer}
		out, r, fault := pairs.Render(nil, translate.Chat, translate.Responses, []byte(talk(hi, `"modalities":["image"]`+members)), info)
		require.Nil(t, fault, members)
		assert.Contains(t, strings.ReplaceAll(string(out), `,"properties":{}`, ""), want, members)
		assert.Equal(t, strings.Contains(members, `"none"`) || members == `,"tool_choice":"required"`, strings.Contains(r.Losses.String(), "tool"), members)
	}
}
