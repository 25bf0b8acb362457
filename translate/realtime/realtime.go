// Package realtime reads the messages of conversations by voice, of the Realtime API of OpenAI and the Live
// APIs of OpenAI and of Gemini, as far as a gateway between a client and a provider needs them: which models a
// client asks for, and what the provider charges.
//
// It promises that a message of a client is read as the provider reads it: one that is not valid, or names
// a member twice, is refused. It changes no message.
package realtime

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Protocol is the subprotocol of WebSockets of the API, and KeyProtocol the beginning of the one in which
// scripts of web pages have their keys.
const (
	Protocol    = "realtime"
	KeyProtocol = "openai-insecure-api-key."
)

// Dialect is how the messages of an API are read.
type Dialect struct {
	// Read reads a message of a client, and ReadEvent one of a provider.
	Read      func(message []byte) (Request, error)
	ReadEvent func(message []byte) Event
	// ModelFirst reports that the first message of a client names the model, which else the query does.
	// ModelPrefix is in front of the name.
	ModelFirst  bool
	ModelPrefix string
	// Errors reports that a refusal is a message, behind which the conversation goes on. Without them, a
	// refusal closes the WebSocket.
	Errors bool
	// Secret is what client secrets of the API begin with, "" for an API without any.
	Secret string
	// Lifetime is the longest time for which a conversation is open. Timed reports that it costs by time,
	// and Hangup is the message with which a client asks for its end; nil without one.
	Lifetime time.Duration
	Timed    bool
	Hangup   []byte
}

// OpenAI is the Realtime API of OpenAI.
var OpenAI = Dialect{Read: Read, ReadEvent: ReadEvent, Errors: true, Secret: "ek_", Lifetime: hour}

// Live is the Live API of OpenAI. Its models listen while they speak, so that a conversation has no
// responses: it costs by time. What other models do for it costs as their responses do.
var Live = Dialect{
	Read: readLive, ReadEvent: readLiveEvent, Errors: true, ModelFirst: true, Lifetime: 2 * hour,
	Timed: true, Hangup: []byte(`{"type":"session.close"}`),
}

// hour is the time after which OpenAI ends a conversation, with some that it may be late.
const hour = 65 * time.Minute

// Request is a message of a client.
type Request struct {
	Type   string
	First  bool            // it begins a conversation
	Model  jsonscan.Slot   // the place of the name of the model in a message that has one; else zero
	Handle jsonscan.Slot   // the place of the handle of the session that is resumed; zero if there is none
	Files  []jsonscan.Slot // the places of the names and addresses of files that the provider stores
	Others []string        // the models that work beside that of the conversation: for transcripts, and for its tasks
	Tasks  [][]byte        // what such a model gets, as bodies of the responses format
	Audio  int             // the length of the audio, in base64
	Tokens int             // of the images
	// Unowned is the path of a member that refers to what the provider stores for its account, by an id that
	// does not show whose it is; "" for none.
	Unowned string
}

var errNoEvent = errors.New("not an object with a type")

// Read reads a message of a client. The ids of items are those of the conversation.
func Read(message []byte) (Request, error) { return read(message, false) }

// read is Read; ofAccount reports that the ids of items are those of the account.
func read(message []byte, ofAccount bool) (r Request, err error) {
	c := jsonscan.New(message)
	r.object(&c, "")
	if err := c.Finish(); err != nil {
		return r, err
	}
	if r.Type == "" {
		return r, errNoEvent
	}
	if err := r.findObjects(message, ofAccount); err != nil {
		return r, err
	}
	r.First = r.Type == "session.start"
	if r.Type == "response.item.create" {
		r.Tasks = append(r.Tasks, slices.Concat([]byte(`{"model":"task","input":[`), jsonscan.MemberOf(message, "item"), []byte("]}")))
	}
	return r, nil
}

// findObjects notes what refers to an object of the provider. Sound, of which there are many messages, refers to
// nothing, and a response may be that of the conversation.
func (r *Request) findObjects(message []byte, ofAccount bool) error {
	if r.Type == "input_audio_buffer.append" {
		return nil
	}
	all, err := objects.References(message, func(string) bool { return true })
	for i := range all {
		if all[i].Path != "response_id" {
			r.Unowned = all[i].Path
		}
	}
	if r.Unowned == "" && err == nil {
		c := jsonscan.Again(message)
		r.findUnowned(&c, "", ofAccount)
	}
	return err
}

// findUnowned notes what the value at the cursor, of a member, names by an id that does not show whose it is: the
// template of a prompt, or an item of the account.
func (r *Request) findUnowned(c *jsonscan.Cursor, member string, ofAccount bool) {
	switch c.Kind() {
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			r.findUnowned(c, "", ofAccount)
		}
	case jsonscan.Object:
		if objects.IsData(member) {
			c.Skip()
			return
		}
		hasID, refers := false, false
		for c.EnterMap(); c.Member(); {
			switch name := strings.ToLower(string(c.Name())); name {
			case "id":
				hasID = c.Kind() == jsonscan.String
				c.Skip()
			case "type":
				refers = jsonscan.TextOf(c.StringOrSkip()) == "item_reference"
			default:
				r.findUnowned(c, name, ofAccount)
			}
		}
		switch {
		case hasID && member == "prompt":
			r.Unowned = member
		case hasID && refers && ofAccount:
			r.Unowned = "item_reference"
		}
	default:
		c.Skip()
	}
}

// readLive reads a message of a client of the Live API. A response that it contains is a task.
func readLive(message []byte) (Request, error) {
	r, err := read(message, true)
	response := jsonscan.MemberOf(message, "response")
	if err != nil || len(response) == 0 || response[0] != '{' {
		return r, err
	}
	if model := jsonscan.TextOf(jsonscan.MemberOf(response, "model")); model != "" {
		r.Others = append(r.Others, model)
	}
	r.Tasks = append(r.Tasks, taskOf(response, "model", "input"))
	return r, nil
}

// taskOf returns an object of a client as the body of a task, with a text in place of the members that the
// conversation gives to the task unless the object has them.
func taskOf(object []byte, given ...string) []byte {
	var members [][]byte
	for _, name := range given {
		if jsonscan.MemberOf(object, name) == nil {
			members = append(members, []byte(`"`+name+`":"task"`))
		}
	}
	if own := bytes.TrimSpace(object[1 : len(object)-1]); len(own) > 0 {
		members = append(members, own)
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
}

// Update returns the message of a client that configures a session.
func Update(session []byte) []byte {
	return slices.Concat([]byte(`{"type":"session.update","session":`), session, []byte("}"))
}

// object reads the object at the cursor, whose path ends with a dot.
func (r *Request) object(c *jsonscan.Cursor, path string) {
	start := c.Offset()
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		switch name := path + string(c.Name()); name {
		case "type":
			r.Type = jsonscan.TextOf(c.StringOrSkip())
		case "audio":
			r.Audio = len(c.Skip())
		case "session", "session.audio", "session.audio.input", "session.audio.input.transcription", "session.input_audio_transcription",
			"response", "session.delegation", "session.delegation.responses", "session.delegation.decisions", "session.triggers.decisions":
			r.object(c, name+".")
		case "session.triggers":
			for c.OpenArray(); c.Element(); {
				r.object(c, name+".")
			}
		case "session.prompt", "response.prompt":
			if c.Kind() != jsonscan.Null {
				r.Unowned = name
			}
			c.Skip()
		case "session.model":
			_, r.Model = c.SkipAt()
		case "session.audio.input.transcription.model", "session.input_audio_transcription.model",
			"session.delegation.responses.model", "session.delegation.decisions.model", "session.triggers.decisions.model":
			r.Others = append(r.Others, jsonscan.TextOf(c.StringOrSkip()))
		default:
			c.Skip()
		}
	}
	if path == "session.delegation.responses." && c.Err() == nil {
		r.Tasks = append(r.Tasks, taskOf(c.Document()[start:c.Offset()], "input"))
	}
}

// Kind is what a message of a provider means for the gateway.
type Kind uint8

// The kinds.
const (
	Other   Kind = iota
	Created      // a response, or a conversation that costs by time, has begun
	Done         // a response has ended
	Elapsed      // a conversation that costs by time has lasted for the seconds of its usage
	Ended        // the same, and has ended
	Beside       // another model has worked: the audio of a client has a transcript, or a task is done
	Delta        // a part of a response that has begun
)

var kinds = map[string]Kind{
	"response.created": Created, "response.done": Done, "conversation.item.input_audio_transcription.completed": Beside,
	"response.output_audio.delta": Delta, "response.output_text.delta": Delta, "response.function_call_arguments.delta": Delta,
	"response.mcp_call_arguments.delta": Delta,
	"response.audio.delta":              Delta, "response.text.delta": Delta, // of the API before its release
}

var liveKinds = map[string]Kind{
	"session.started": Created, "session.usage.updated": Elapsed, "session.closed": Ended, "response.event": Beside, "decision.event": Beside,
}

// perToken is the number of bytes, in base64, of the sound of a token: one for 50 ms of an answer, in which
// the usual form has 2400 bytes.
const perToken = 3200

// Event is a message of a provider.
type Event struct {
	Kind     Kind
	Response string        // the id of the response; "" if there is one at a time
	Failed   bool          // the response has failed
	Handle   jsonscan.Slot // the place of a handle by which the session can be resumed; zero if there is none
	Tokens   int64         // of a part of a response, estimated
	Searches int64         // of the web, of a part of a response or a task, which its usage does not have
	Usage    token.Usage   // of a response, a transcript or a task; of a conversation that costs by time, from its beginning

	Operation translate.Operation // of another model
	Model     string              // its name; "" if the message has none
}

// rows describes the usage objects of the API.
var rows = token.NewRows(
	token.Row{Path: "input_tokens", Is: token.Prompt},
	token.Row{Path: "output_tokens", Is: token.Output},
	token.Row{Path: "total_tokens", Is: token.Total},
	token.Row{Path: "input_token_details.cached_tokens", Is: token.CacheRead},
	token.Row{Path: "input_token_details.image_tokens", Is: token.ImageInput},
	token.Row{Path: "input_token_details.cached_tokens_details.image_tokens", Is: token.ImageCacheRead},
	token.Row{Path: "input_token_details.audio_tokens", Is: token.AudioInput},
	token.Row{Path: "input_token_details.cached_tokens_details.audio_tokens", Is: token.AudioCacheRead},
	token.Row{Path: "output_token_details.audio_tokens", Is: token.AudioOutput},
	token.Row{Path: "output_token_details.reasoning_tokens", Is: token.Reasoning},
	token.Row{Path: "input_tokens_details.cached_tokens", Is: token.CacheRead}, // of tasks
	token.Row{Path: "input_tokens_details.cache_write_tokens", Is: token.CacheWrite},
	token.Row{Path: "output_tokens_details.reasoning_tokens", Is: token.Reasoning},
)

// ReadEvent reads a message of a provider of the Realtime API.
func ReadEvent(message []byte) (e Event) { return readEvent(message, kinds) }

func readLiveEvent(message []byte) (e Event) { return readEvent(message, liveKinds) }

func readEvent(message []byte, kinds map[string]Kind) (e Event) {
	kind := jsonscan.TextOf(jsonscan.MemberOf(message, "type"))
	e.Kind = kinds[kind]
	var usage []byte
	switch e.Kind {
	case Delta:
		e.Response = jsonscan.TextOf(jsonscan.MemberOf(message, "response_id"))
		size := int64(len(jsonscan.MemberOf(message, "delta")))
		if strings.HasSuffix(kind, "audio.delta") {
			e.Tokens = size/perToken + 1
		} else {
			e.Tokens = size/token.DefaultBytesPerToken + 1
		}
	case Created, Done:
		response := jsonscan.MemberOf(message, "response")
		e.Response = jsonscan.TextOf(jsonscan.MemberOf(response, "id"))
		e.Failed = jsonscan.TextOf(jsonscan.MemberOf(response, "status")) == "failed"
		usage = jsonscan.MemberOf(response, "usage")
	case Elapsed, Ended:
		usage = jsonscan.MemberOf(message, "usage")
	case Beside:
		usage = e.beside(message)
	}
	if usage == nil {
		return e
	}
	var report token.Report
	c := jsonscan.New(usage)
	report.Read(&c, rows)
	terms := e.Usage.Terms
	e.Usage = report.Usage()
	e.Usage.Terms = terms
	if seconds, err := strconv.ParseFloat(string(jsonscan.MemberOf(usage, "seconds")), 64); err == nil && seconds > 0 {
		e.Usage.Units.Seconds = int64(math.Ceil(min(seconds, token.MaxSeconds)))
	}
	return e
}

// beside reads what another model has done, and returns its usage object, nil for none.
func (e *Event) beside(message []byte) (usage []byte) {
	event := jsonscan.MemberOf(message, "event")
	switch jsonscan.TextOf(jsonscan.MemberOf(event, "type")) {
	case "": // a transcript
		e.Operation = translate.Transcribe
		return jsonscan.MemberOf(message, "usage")
	case "response.output_item.done":
		e.Operation = translate.Generate
		if jsonscan.TextOf(jsonscan.MemberOf(jsonscan.MemberOf(event, "item"), "type")) == "web_search_call" {
			e.Searches = 1
		}
		return nil
	case "response.completed", "response.incomplete", "response.failed":
		e.Operation = translate.Generate
		event = jsonscan.MemberOf(event, "response")
		e.Usage.Terms.ReadTier(jsonscan.MemberOf(event, "service_tier"))
	case "decision.completed":
		e.Operation = translate.Decide
		event = jsonscan.MemberOf(event, "decision")
	default:
		return nil
	}
	e.Model = jsonscan.TextOf(jsonscan.MemberOf(event, "model"))
	return jsonscan.MemberOf(event, "usage")
}
