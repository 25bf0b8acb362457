package pairs_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// known are the names of the formats of clients, and spoken those of providers.
var (
	known  = formats.Names()
	spoken = namesOf(formats.OfProviders())
)

func namesOf(all []*format.Descriptor) (names []translate.Format) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}

// way is the way of a request, from a client's format to a provider's, or of an
// answer, from a provider's format to a client's.
type way struct{ source, target translate.Format }

// requestWays are all ways of requests, and ways those of answers. Both follow from
// the registered formats, so that no test leaves a new format out.
var (
	requestWays = waysWhere(func(w way) bool { return pairs.CanTranslate(w.source, w.target) })
	ways        = waysWhere(func(w way) bool { return w.source != w.target && formats.Of(w.target).Answers.NewEmitter != nil })
)

func waysWhere(exists func(way) bool) (all []way) {
	for _, from := range spoken {
		for _, to := range spoken {
			if w := (way{from, to}); exists(w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// The ways of answers that tests of single cases take.
var (
	chatToMessages         = way{translate.Chat, translate.Messages}
	chatToCompletions      = way{translate.Chat, translate.Completions}
	chatToResponses        = way{translate.Chat, translate.Responses}
	messagesToChat         = way{translate.Messages, translate.Chat}
	messagesToCompletions  = way{translate.Messages, translate.Completions}
	messagesToResponses    = way{translate.Messages, translate.Responses}
	completionsToMessages  = way{translate.Completions, translate.Messages}
	completionsToChat      = way{translate.Completions, translate.Chat}
	completionsToResponses = way{translate.Completions, translate.Responses}
	responsesToMessages    = way{translate.Responses, translate.Messages}
	responsesToChat        = way{translate.Responses, translate.Chat}
	responsesToCompletions = way{translate.Responses, translate.Completions}
	geminiToMessages       = way{translate.Gemini, translate.Messages}
	geminiToChat           = way{translate.Gemini, translate.Chat}
	geminiToCompletions    = way{translate.Gemini, translate.Completions}
	geminiToResponses      = way{translate.Gemini, translate.Responses}
	converseToMessages     = way{translate.Converse, translate.Messages}
	converseToChat         = way{translate.Converse, translate.Chat}
	converseToCompletions  = way{translate.Converse, translate.Completions}
	converseToResponses    = way{translate.Converse, translate.Responses}
)

func (w way) name() string { return string(w.source) + " to " + string(w.target) }

func waysFrom(provider translate.Format) []way {
	return slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return w.source != provider })
}

// clients are how the clients of each format read streams.
var clients = map[translate.Format]client.Format{
	translate.Messages:    client.Messages,
	translate.Chat:        client.Chat,
	translate.Completions: client.Completions,
	translate.Responses:   client.Responses,
	translate.Gemini:      client.Gemini,
}

// lastEvents are texts that only a finished stream contains.
var lastEvents = []string{"event: message_stop", "event: message_delta", "[DONE]", "event: response.completed", "event: response.incomplete", `"finishReason"`}

// added adds up a stream of the client's format, which has usage if the client asked for it, or
// if the format always has it.
func (w way) added(stream string, asked bool) (client.Object, error) {
	answer, err := clients[w.target].Emitted([]byte(stream))
	_, told := answer["usage"]
	if err == nil && told != asked && (w.target == translate.Chat || w.target == translate.Completions) {
		err = errors.New("usage that nobody asked for, or none")
	}
	return answer, err
}

// The pairs of formats were once listed by hand, so that all tests of translated
// answers passed without one answer of a new format.
func TestEveryFormatIsTested(t *testing.T) {
	for _, name := range known {
		assert.Contains(t, clients, name)
		assert.Contains(t, sampled, name)
		assert.NotEmpty(t, waysFrom(name))
	}
}
