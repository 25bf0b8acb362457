package passthrough

import (
	"math"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// endpoint is an endpoint beside text.
type endpoint struct {
	operation translate.Operation
	path      string        // below the path of the version
	json      strict.Fields // of requests in JSON, the model first; nil if there are none
	form      string        // the part that forms of the type multipart/form-data need; "" if there are no forms
	byDefault string        // the model that the service uses for a request in JSON without one; "" if the model is needed
	output    bool          // answers report tokens of output
	unit      unit          // what some models are charged for, if not for tokens
	types     []string      // beginnings of the media types of answers that are neither JSON nor streams
}

// unit is a unit of token.Units.
type unit uint8

const (
	noUnit unit = iota
	images
	seconds
	characters
	queries
)

// The media types of subtitles and texts, and of sound. Others, such as the page of a proxy,
// are no answers.
var (
	texts = []string{"text/plain", "text/vtt", "text/srt", "application/x-subrip"}
	sound = []string{"audio/", "application/octet-stream"}
)

// endpoints are the endpoints in the order of their operations (wire format E). Only the
// fields that the gateway needs are checked; the others are the provider's. The model that images
// once had by default is no longer served, so requests for images need one.
var endpoints = [...]endpoint{
	{operation: translate.Embed, path: "/embeddings", json: fields(nil, need("input", nil))},
	{operation: translate.Rerank, path: "/rerank", json: fields(nil, need("query", nil), need("documents", checkDocuments)), unit: queries},
	{operation: translate.Moderate, path: "/moderations", json: anyModel(fields(nil, need("input", nil))), byDefault: "omni-moderation-latest"},
	{operation: translate.GenerateImages, path: "/images/generations", json: imageFields(), output: true, unit: images},
	{operation: translate.EditImages, path: "/images/edits", json: imageFields(), form: "prompt", output: true, unit: images},
	{operation: translate.Transcribe, path: "/audio/transcriptions", form: "file", output: true, unit: seconds, types: texts},
	{operation: translate.TranslateAudio, path: "/audio/translations", form: "file", unit: seconds, types: texts},
	{operation: translate.Speak, path: "/audio/speech", json: fields(nil, need("input", checkCharacters)), unit: characters, types: sound},
	{operation: translate.Decide, path: "/decisions", json: fields(nil, need("input", nil), need("questions", nil)), output: true},
}

// fields returns the fields of a request that must have the needed ones. number checks how many
// answers it asks for.
func fields(number strict.Check, needed ...strict.Field) strict.Fields {
	return slices.Concat(strict.Fields{need("model", strict.Model)}, needed, strict.Fields{
		{Name: "stream", Check: strict.Stream}, {Name: "stream_format", Check: checkStreamFormat}, {Name: "n", Check: number},
	})
}

// imageFields returns the fields of a request for images. Their number has other names at some
// services, SiliconFlow and fal.
func imageFields() strict.Fields {
	return append(fields(strict.Answers(math.MaxInt64), need("prompt", nil)),
		strict.Field{Name: "batch_size", Check: checkNumber}, strict.Field{Name: "num_images", Check: checkNumber})
}

// need returns a field that a request must have.
func need(name string, check strict.Check) strict.Field {
	return strict.Field{Name: name, Check: check, Must: true}
}

// anyModel returns the fields of a request that need not name its model.
func anyModel(fields strict.Fields) strict.Fields {
	fields[0].Must = false
	return fields
}

// endpointOf returns the endpoint of an operation, which is beside text. That of embeddings takes many, too.
func endpointOf(op translate.Operation) *endpoint {
	return &endpoints[max(op, translate.Embed)-translate.Embed]
}

// Endpoints returns the paths of the gateway.
func Endpoints() (all []format.Endpoint) {
	for i := range endpoints {
		all = append(all, format.Endpoint{Method: "POST", Path: "/v1" + endpoints[i].path, Operation: endpoints[i].operation})
	}
	return all
}

// Path returns the path of an operation at a provider, below that of the version.
func Path(op translate.Operation) string { return endpointOf(op).path }

// TakesForms reports whether requests of an operation may be forms.
func TakesForms(op translate.Operation) bool { return op.Beside() && endpointOf(op).form != "" }

// TakesJSON reports whether requests of an operation may be JSON.
func TakesJSON(op translate.Operation) bool { return !op.Beside() || endpointOf(op).json != nil }

// Passes reports whether an answer of a content type is passed on as it is, since it is
// neither JSON nor a stream of events.
func Passes(op translate.Operation, contentType string) bool {
	return op.Beside() && slices.ContainsFunc(endpointOf(op).types, func(beginning string) bool {
		return strings.HasPrefix(strings.ToLower(contentType), beginning)
	})
}

// HasOutput reports whether the answer to an operation reports tokens of output.
func HasOutput(op translate.Operation) bool { return !op.Beside() || endpointOf(op).output }

// bytesPerSecond is the assumed length of a second of sound whose header does not state its
// length, of 32 kbit/s: few files have less.
const bytesPerSecond = 4096

// documentsPerUnit is the number of documents of a rerank that is one search to its services.
const documentsPerUnit = 100

// bytesPerDocument are the bytes of about 500 tokens, beyond which such a service counts a document
// of a rerank as several.
const bytesPerDocument = 2000

// FileTokens estimates the tokens of a form from its length in bytes. Sound of 32 kbit/s has
// about 16 tokens a second, and an image of some megabytes has some thousand.
func FileTokens(length int) int64 { return int64(length)/256 + 1 }

// SpokenTokens estimates the tokens of the speech for a request of a length in bytes. A minute
// has about 900 characters and 1250 tokens.
func SpokenTokens(length int) int64 { return int64(length) * 3 / 2 }
