package passthrough

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/playtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members of an answer, and of the data of an event.
var (
	answers     = members.New("")
	answerModel = answers.Maybe(members.String, "model")
	answerError = answers.Maybe(members.Any, "error")
	answerUsage = answers.Maybe(members.Object, "usage")
	answerType  = answers.Maybe(members.String, "type")
	answerData  = answers.Maybe(members.Any, "data")     // of images, of which each is an element
	answerFiles = answers.Maybe(members.Any, "images")   // the same, of SiliconFlow
	answerTime  = answers.Maybe(members.Any, "duration") // of a verbose transcript, in seconds
	answerMeta  = answers.Maybe(members.Object, "meta")  // of a rerank, with the usage of Cohere and SiliconFlow
)

// usageDetails is the member of the usage of images that divides their output.
var (
	usages       = members.New("usage.")
	usageDetails = usages.Maybe(members.Object, "output_tokens_details")
)

// usageRows are the counts of all endpoints, in their usage and in what a rerank has in its
// place. Embeddings have prompt_tokens, and images, transcripts and speech input_tokens. A rerank
// has total_tokens alone, or the units that Cohere and Pinecone sell; of two numbers of tokens, the
// one that is billed holds. Other hosts, such as those with a bare list of results, report nothing.
var usageRows = token.WithStatedCosts(slices.Concat(openai.DetailRows, []token.Row{
	{Path: "input_tokens", Is: token.Prompt},
	{Path: "prompt_tokens", Is: token.Prompt},
	{Path: "total_tokens", Is: token.Prompt},
	{Path: "billed_units.input_tokens", Is: token.Prompt},
	{Path: "tokens.input_tokens", Is: token.Prompt},
	{Path: "output_tokens", Is: token.Output},
	{Path: "search_units", Is: token.Searches},
	{Path: "rerank_units", Is: token.Searches},
	{Path: "billed_units.search_units", Is: token.Searches},
	{Path: "seconds", Is: token.Seconds},
	{Path: "prompt_audio_seconds", Is: token.Seconds}, // Mistral
	{Path: "duration", Is: token.Seconds},
})...)

// usage returns the usage of an answer, which is not known if the answer has none: not every
// service reports one.
func usage(v *members.Values) token.Usage {
	var report token.Report
	positive := false // seconds of a transcript are no tokens
	for _, m := range [...]members.Member{answerUsage, answerMeta} {
		if v.Raw(m) != nil {
			c := v.Cursor(m)
			report.Read(&c, usageRows)
			positive = positive || report.Positive()
		}
	}
	used := report.Usage()
	if !positive {
		return token.Usage{Stated: used.Stated, Units: token.Units{Seconds: used.Units.Seconds}}
	}
	return used
}

// unitsOf returns the units that a JSON answer contains or reports. Implausible ones count as 0.
func unitsOf(v *members.Values, u unit, used token.Usage) (n token.Units) {
	n.ImageTokens, n.AudioTokens = used.Units.ImageTokens, used.Units.AudioTokens
	switch u {
	case images:
		n.ImageTokens = ofImages(v, used)
		for _, list := range [...]members.Member{answerData, answerFiles} {
			number, ok := elementsOf(v.Raw(list))
			n.Images, n.Counted = max(n.Images, number), n.Counted || ok
		}
	case seconds:
		n.Seconds = max(token.SecondsOf(v.Raw(answerTime)), used.Units.Seconds)
	case queries:
		n.Queries = 1
	}
	if n.Images > token.MaxImages {
		return token.Units{}
	}
	return n
}

// elementsOf returns the number of elements of a raw list; ok is false for a value of another kind.
func elementsOf(raw []byte) (n int64, ok bool) {
	c := jsonscan.Again(raw)
	if ok = len(raw) > 0 && raw[0] == '['; ok {
		for c.OpenArray(); c.Element(); n++ {
			c.Skip()
		}
	}
	return n, ok
}

// ofImages returns the tokens of images in the usage of images. Without details of the output, all
// of its tokens are of images.
func ofImages(v *members.Values, used token.Usage) token.MediaTokens {
	n := used.Units.ImageTokens
	var details members.Values
	c := jsonscan.Again(v.Raw(answerUsage))
	if details.Read(&c, usages, nil); details.Raw(usageDetails) == nil {
		n = token.Media(int64(n.Input), int64(n.CacheRead), used.Output())
	}
	return n
}

// MostSubtitles is the number of bytes at the end of an answer in which UnitsOfText finds the
// last subtitle.
const MostSubtitles = 4 << 10

// UnitsOfText returns the units that an answer that is a text shows: the length of a recording in
// the last of its subtitles. sent are the units of the request. Those of the header of a file are
// exact, while nothing may be spoken at the end.
func UnitsOfText(end []byte, op translate.Operation, sent token.Units) (n token.Units) {
	if endpointOf(op).unit == seconds && !sent.Measured {
		n.Seconds, _ = playtime.OfSubtitles(end)
	}
	if n.Seconds > token.MaxSeconds {
		return token.Units{}
	}
	return n
}

// InspectAnswer reads a whole JSON answer to an operation. It returns a fault for an answer that
// contains an error, or that is no JSON.
func InspectAnswer(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	e := endpointOf(op)
	var v members.Values
	if err := readAnswer(&v, body, e); err != nil {
		return signal.Answer{}, fault.Unusable(err)
	}
	if raw := v.Raw(answerError); len(raw) > 0 && raw[0] != 'n' {
		return signal.Answer{}, fault.ReadAnswer(body)
	}
	used := usage(&v)
	if used.Units = unitsOf(&v, e.unit, used); used.Searches > 0 {
		used.Units.Queries = 0
	}
	return signal.Answer{Model: jsonscan.TextOf(v.Raw(answerModel)), Usage: used}, nil
}

// readAnswer reads the members of an answer. The answer to a rerank may be a list of results,
// which has none.
func readAnswer(v *members.Values, body []byte, e *endpoint) error {
	c := jsonscan.New(body)
	if e.unit == queries && c.Kind() == jsonscan.Array {
		c.Skip()
		return c.Finish()
	}
	return v.ReadDocument(&c, answers, nil)
}

// observer observes a stream of images, of a transcript or of speech. Every event is content,
// and the last one of an image or of a text has the usage.
type observer struct {
	signal.Observed
	values members.Values
}

// NewObserver returns an observer of one stream.
func NewObserver() signal.Observer { return new(observer) }

// Observe implements signal.Observer.
func (o *observer) Observe(e sse.Event) signal.Signal {
	if e.IsDone() {
		return signal.Terminal
	}
	v := &o.values
	c := jsonscan.New(e.Data)
	if err := v.ReadDocument(&c, answers, nil); err != nil {
		return o.Unreadable(err)
	}
	if raw := v.Raw(answerError); len(raw) > 0 && raw[0] != 'n' {
		return o.Fail(openai.Errors.Dialect.ReadEvent(e.Data))
	}
	o.Begun = true
	o.Written.Add(e.Data)
	kind := string(jsonscan.Inner(v.Raw(answerType)))
	used := usage(v)
	if used.Units = unitsOf(v, seconds, used); strings.HasPrefix(kind, "image") && strings.HasSuffix(kind, ".completed") {
		used.Units.Images = o.Used.Units.Images + 1
		used.Units.ImageTokens = o.Used.Units.ImageTokens.Add(ofImages(v, used))
		used.Counts = o.Used.Add(used.Counts) // the event has the usage of its own image
		used.Known = used.Known || o.Used.Known
	}
	o.Used = o.Used.Then(used)
	if strings.HasSuffix(kind, ".done") || strings.HasSuffix(kind, ".completed") {
		return signal.Content | signal.Finish
	}
	return signal.Content
}

// FitVectors returns the edits after which the vectors of an answer to a request for
// embeddings are in base64, if the request asked for it, and the provider has ignored that:
// official SDKs decode what they asked for without looking at it, and return zeros.
func FitVectors(request, answer []byte) (edits []edit.Edit) {
	if !asksBase64(request) {
		return nil
	}
	c := jsonscan.New(answer) // which may be broken behind a repeated member
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "data" {
			c.Skip()
			continue
		}
		for c.OpenArray(); c.Element(); {
			for c.OpenObject(); c.Member(); {
				if start := c.Offset(); string(c.Name()) == "embedding" && c.Kind() == jsonscan.Array {
					vectors, ok := appendVector(nil, &c)
					if ok {
						edits = append(edits, edit.Edit{Span: translate.Span{Start: start, End: c.Offset()}, With: vectors})
					}
				} else {
					c.Skip()
				}
			}
		}
	}
	if c.Finish() != nil {
		return nil
	}
	return edits
}

// asksBase64 reports whether a request asks for vectors in base64.
func asksBase64(request []byte) bool {
	c := jsonscan.Again(request)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "encoding_format" {
			return string(jsonscan.Inner(c.StringOrSkip())) == "base64"
		}
		c.Skip()
	}
	return false
}

// appendVector appends the vector at the cursor as a string: its numbers of 32 bits, the lowest
// byte first, in base64. ok is false for a list that is no vector, and for one with a number that
// 32 bits cannot contain, which would become infinite.
func appendVector(dst []byte, c *jsonscan.Cursor) (vector []byte, ok bool) {
	var numbers []byte
	ok = true
	for c.EnterArray(); c.Element(); {
		raw, isNumber := c.Number()
		if !isNumber {
			c.Skip()
		}
		f := float32(jsonscan.ParseFloat(raw))
		ok = ok && isNumber && !math.IsInf(float64(f), 0)
		numbers = binary.LittleEndian.AppendUint32(numbers, math.Float32bits(f))
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), numbers), '"'), ok
}
