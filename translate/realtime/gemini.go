package realtime

import (
	"bytes"
	"cmp"
	"errors"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Gemini is the Live API of Gemini. Its first message names the model, its refusals are close codes, and
// it has one response at a time, without an id.
var Gemini = Dialect{Read: readGemini, ReadEvent: readGeminiEvent, ModelFirst: true, ModelPrefix: "models/", Secret: "auth_tokens/", Lifetime: hour}

// tokensOfFrame are the tokens of a frame of a video, which has one each second.
const tokensOfFrame = 258

var errTwice = errors.New("a member in two notations")

// readGemini reads a message of a client. Names may be written in either notation of protocol buffers.
func readGemini(message []byte) (r Request, err error) {
	c := jsonscan.New(message)
	twice := false
	r.gemini(&c, "", &twice)
	switch err := c.Finish(); {
	case err != nil:
		return r, err
	case twice:
		return r, errTwice
	case r.Type == "":
		return r, errNoEvent
	}
	return r, nil
}

// gemini reads the object at the cursor, whose path ends with a dot.
func (r *Request) gemini(c *jsonscan.Cursor, path string, twice *bool) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	seen := make(map[string]bool)
	for c.Member() {
		plain := plainName(c)
		*twice = *twice || seen[plain]
		seen[plain] = true
		if path == "" {
			r.Type = plain
		}
		switch name := path + plain; name {
		case "setup":
			r.First = true
			r.gemini(c, name+".", twice)
		case "setup.sessionresumption", "realtimeinput", "realtimeinput.audio", "realtimeinput.video":
			r.gemini(c, name+".", twice)
		case "setup.model":
			_, r.Model = c.SkipAt()
		case "setup.sessionresumption.handle":
			_, r.Handle = c.SkipAt()
		case "realtimeinput.audio.data":
			r.Audio += len(c.Skip())
		case "realtimeinput.video.data":
			r.Audio += len(c.Skip())
			r.Tokens += tokensOfFrame
		case "realtimeinput.mediachunks":
			r.chunks(c)
		default:
			r.refer(c, plain)
		}
	}
}

// unowned are members that refer to objects of the account, by their plain names.
var unowned = map[string]string{"cachedcontent": "cachedContent", "filesearch": "fileSearch", "retrieval": "retrieval"}

// refer reads the value at the cursor, of a member with a plain name, and notes what refers to an object that the
// provider stores for the account. Values that a user or a model writes refer to nothing.
func (r *Request) refer(c *jsonscan.Cursor, plain string) {
	kind := c.Kind()
	switch plain {
	case "args", "response", "parameters", "parametersjsonschema", "responsejsonschema", "responseschema":
		c.Skip()
		return
	case "fileuri":
		if text, slot := c.SkipAt(); text == jsonscan.String && objects.IsGeminiFile(jsonscan.TextOf(c.Document()[slot.Start:slot.End])) {
			r.Files = append(r.Files, slot)
		}
		return
	}
	if path := unowned[plain]; path != "" && kind != jsonscan.Null {
		r.Unowned = path
	}
	switch kind {
	case jsonscan.Object:
		for c.EnterMap(); c.Member(); {
			r.refer(c, plainName(c))
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			r.refer(c, "")
		}
	default:
		c.Skip()
	}
}

// plainName returns the name of the member at the cursor, equal in both notations.
func plainName(c *jsonscan.Cursor) string {
	return string(bytes.ToLower(bytes.ReplaceAll(c.Name(), []byte("_"), nil)))
}

// chunks reads the list of sounds and frames at the cursor, the older form of both.
func (r *Request) chunks(c *jsonscan.Cursor) {
	for c.OpenArray(); c.Element(); {
		chunk := c.Skip()
		r.Audio += len(jsonscan.MemberOf(chunk, "data"))
		kind := cmp.Or(jsonscan.TextOf(jsonscan.MemberOf(chunk, "mimeType")), jsonscan.TextOf(jsonscan.MemberOf(chunk, "mime_type")))
		if strings.HasPrefix(kind, "image/") {
			r.Tokens += tokensOfFrame
		}
	}
}

// geminiRows describes the usage objects of the API. The prompt of a turn is the whole conversation.
var geminiRows = token.NewRows(
	token.Row{Path: "promptTokenCount", Is: token.Prompt},
	token.Row{Path: "toolUsePromptTokenCount", Is: token.FurtherPrompt},
	token.Row{Path: "cachedContentTokenCount", Is: token.CacheRead},
	token.Row{Path: "responseTokenCount", Is: token.Output},
	token.Row{Path: "candidatesTokenCount", Is: token.Output}, // of Vertex
	token.Row{Path: "thoughtsTokenCount", Is: token.FurtherReasoning},
	token.Row{Path: "serviceTier", Is: token.Tier},
	token.Row{Path: "trafficType", Is: token.Tier},
)

// readGeminiEvent reads a message of a provider. One with a usage ends a response, whatever else is in it.
func readGeminiEvent(message []byte) (e Event) {
	for name, value := range jsonscan.Members(bytes.TrimSpace(message)) {
		switch string(name) {
		case "usageMetadata":
			e.Kind, e.Usage = Done, geminiUsage(value)
		case "serverContent":
			turn := jsonscan.MemberOf(value, "modelTurn")
			e.Searches += searchesIn(jsonscan.MemberOf(value, "groundingMetadata"))
			if e.Kind == Other && (turn != nil || jsonscan.MemberOf(value, "outputTranscription") != nil) {
				e.Kind, e.Tokens = Created, int64(len(turn))/perToken+1
			}
		case "toolCall":
			if e.Kind == Other {
				e.Kind, e.Tokens = Created, int64(len(value))/token.DefaultBytesPerToken
			}
		case "sessionResumptionUpdate":
			e.Handle = handleOf(message)
		}
	}
	return e
}

// searchesIn returns the number of the searches of the web of an object groundingMetadata. Equal queries, which
// the provider charges once, are in one.
func searchesIn(grounding []byte) (n int64) {
	for _, list := range []string{"webSearchQueries", "imageSearchQueries"} {
		c := jsonscan.New(jsonscan.MemberOf(grounding, list))
		for c.OpenArray(); c.Element(); {
			if query := c.Skip(); !jsonscan.Blank(query) {
				n++
			}
		}
	}
	return n
}

// geminiUsage reads a usage object.
func geminiUsage(usage []byte) token.Usage {
	var report token.Report
	c := jsonscan.New(usage)
	report.Read(&c, geminiRows)
	u := report.Usage()
	media := func(is func(modality string) bool) token.MediaTokens {
		sum := func(list string) (n int64) {
			c := jsonscan.New(jsonscan.MemberOf(usage, list))
			for c.OpenArray(); c.Element(); {
				part := c.Skip()
				if is(jsonscan.TextOf(jsonscan.MemberOf(part, "modality"))) {
					n += token.CountOf(jsonscan.MemberOf(part, "tokenCount"))
				}
			}
			return n
		}
		return token.Media(sum("promptTokensDetails"), sum("cacheTokensDetails"), max(sum("responseTokensDetails"), sum("candidatesTokensDetails")))
	}
	u.Units.AudioTokens = media(func(modality string) bool { return modality == "AUDIO" })
	u.Units.ImageTokens = media(func(modality string) bool { return modality == "IMAGE" || modality == "VIDEO" })
	return u
}

// handleOf returns the place of the handle by which the session can be resumed; zero if there is none.
func handleOf(message []byte) (handle jsonscan.Slot) {
	c := jsonscan.New(message)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "sessionResumptionUpdate" {
			c.Skip()
			continue
		}
		for c.OpenObject(); c.Member(); {
			kind, slot := c.SkipAt()
			if string(c.Name()) == "newHandle" && kind == jsonscan.String && slot.End-slot.Start > len(`""`) {
				handle = slot
			}
		}
	}
	return handle
}
