package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// extras are what an answer has beside its parts, each element with a comma before it.
type extras struct {
	sources     []byte
	chosen, top []byte // log probabilities, by token
}

// cite adds a source. Which part of the text cites it is lost: the format counts bytes.
func (b *extras) cite(source *event.Citation) {
	b.sources = jsonscan.AppendString(append(b.sources, `,{"web":{"uri":`...), source.URL)
	b.sources = append(jsonscan.AppendString(append(b.sources, `,"title":`...), source.Title), "}}"...)
}

// append appends the members, each with a comma before it.
func (b *extras) append(dst []byte) []byte {
	if len(b.sources) > 0 {
		dst = append(append(append(dst, `,"groundingMetadata":{"groundingChunks":[`...), b.sources[1:]...), "]}"...)
	}
	return b.appendProbabilities(dst)
}

// appendProbabilities appends the log probabilities, and forgets them.
func (b *extras) appendProbabilities(dst []byte) []byte {
	if len(b.chosen) == 0 {
		return dst
	}
	dst = append(append(dst, `,"logprobsResult":{"chosenCandidates":[`...), b.chosen[1:]...)
	dst = append(append(append(dst, `],"topCandidates":[`...), b.top[1:]...), "]}"...)
	b.chosen, b.top = b.chosen[:0], b.top[:0]
	return dst
}

// The members of a token in a list of log probabilities, as core events have them.
var (
	logprob     = members.New("logprobs.content[*].")
	logprobOf   = logprob.Maybe(members.String, "token")
	logprobIs   = logprob.Maybe(members.Number, "logprob")
	logprobsTop = logprob.Maybe(members.Array, "top_logprobs")
	_           = logprob.Skip("bytes")
)

// probabilities writes a list of log probabilities: in an event of its own, or with the end
// of a JSON answer.
func (m *writer) probabilities(list []byte) {
	c := jsonscan.New(list)
	var v members.Values
	for c.EnterArray(); c.Element() && v.Read(&c, logprob, &m.Dropped); {
		m.extras.chosen = appendLogprob(m.extras.chosen, &v)
		var top []byte
		if alternatives := v.Raw(logprobsTop); alternatives != nil {
			each := v.Cursor(logprobsTop)
			var w members.Values
			for each.OpenArray(); each.Element() && w.Read(&each, logprob, &m.Dropped); {
				top = appendLogprob(top, &w)
			}
		}
		m.extras.top = append(m.extras.top, `,{"candidates":[`...)
		if len(top) > 0 {
			m.extras.top = append(m.extras.top, top[1:]...)
		}
		m.extras.top = append(m.extras.top, "]}"...)
	}
	if m.Context.Stream && len(m.extras.chosen) > 0 {
		m.Written = append(append(append(m.Written, m.frame.head...), emptyPart...), `],"role":"model"}`...)
		m.Written = append(append(m.extras.appendProbabilities(m.Written), m.frame.end...), ']')
		m.Written = append(m.Written, m.frame.names...)
	}
}

func appendLogprob(dst []byte, v *members.Values) []byte {
	dst = append(append(dst, `,{"token":`...), orNull(v.Raw(logprobOf))...)
	return append(append(append(dst, `,"logProbability":`...), orNull(v.Raw(logprobIs))...), '}')
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// appendUsage appends the usage, with a comma before it, unless it is unknown. Counts that are
// 0 are absent, as in answers of the format. Tokens written to a cache are a part of the prompt.
func appendUsage(dst []byte, u token.Usage, tier event.Tier) []byte {
	if !u.Known {
		return dst
	}
	dst = jsonscan.AppendCount(dst, `,"usageMetadata":{"promptTokenCount":`, u.Input())
	if u.CacheRead > 0 {
		dst = jsonscan.AppendCount(dst, `,"cachedContentTokenCount":`, u.CacheRead)
	}
	dst = jsonscan.AppendCount(dst, `,"candidatesTokenCount":`, u.Answer)
	if u.Reasoning > 0 {
		dst = jsonscan.AppendCount(dst, `,"thoughtsTokenCount":`, u.Reasoning)
	}
	dst = jsonscan.AppendCount(dst, `,"totalTokenCount":`, u.Total())
	if word := Tiers[tier]; word != "" {
		dst = append(append(append(dst, `,"serviceTier":"`...), word...), '"')
	}
	return append(dst, '}')
}

// Tiers are the values of serviceTier that are written: not that of the ordinary tier.
var Tiers = event.TierWords{event.TierPriority: "priority", event.TierFlex: "flex"}
