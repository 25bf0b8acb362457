package request

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
)

// leastTokens is the smallest bound of an answer that providers take. Clients that only
// want to know whether a model is there ask for one token.
const leastTokens = 16

// writeBounds writes what bounds and shapes the answer. Models that reason take no
// sampling fields, unless their provider is known to.
func (w *requestWriter) writeBounds(reasons bool) {
	o := &w.x.Options
	if n, ok := w.x.MaxTokens(); ok {
		if n < leastTokens {
			w.x.KeepAs(core.ShortMaxTokens, o[core.MaxTokens].Row, nil)
			n = leastTokens
		}
		w.out.Number("max_output_tokens", n)
	}
	if !reasons || o.Has(core.Temperature) && w.x.KeepAs(core.TemperatureBesideReasoning, o[core.Temperature].Row, nil) {
		w.out.Option("temperature", &w.x.Options[core.Temperature])
	}
	if !reasons || o.Has(core.TopP) && w.x.KeepAs(core.TopPBesideReasoning, o[core.TopP].Row, nil) {
		w.out.Option("top_p", &w.x.Options[core.TopP])
	}
}

// writeStops leaves the stops to the translator of the answer, since the format has none.
func (w *requestWriter) writeStops() {
	w.x.Answer.EndAtStop = len(w.x.Answer.Stops) > 0
	for _, text := range w.x.Answer.Stops {
		w.x.Enforce(text)
	}
}

// writeText writes the format of the answer, and how many words the client wants.
func (w *requestWriter) writeText() {
	o := &w.x.Options
	verbosity := o.Raw(core.Verbosity)
	if !o.Has(core.FormatObject) && !o.Has(core.Schema) && verbosity == nil {
		return
	}
	w.out.Name("text")
	w.out = append(w.out, '{')
	w.writeFormat()
	if verbosity != nil {
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, `"verbosity":`...), verbosity...)
	}
	w.out = append(w.out, '}')
}

// writeFormat writes the format of the answer.
func (w *requestWriter) writeFormat() {
	o := &w.x.Options
	switch {
	case o.Has(core.Schema):
		w.out = append(w.out, `"format":{"type":"json_schema",`...)
		w.out = append(parts.AppendSchema(w.out, o), '}')
	case o.Has(core.FormatObject):
		w.out = append(w.out, `"format":{"type":"json_object"}`...)
	}
}

// writeInclude asks for what answers have only then: what takes reasoning back to the
// provider, where the client can keep that, and probabilities.
func (w *requestWriter) writeInclude() {
	list := w.scratch[:0]
	if w.x.PathOf(core.Reasoning) != "" && w.x.Info.Seals != nil && w.x.Can(core.EncryptedReasoning) {
		w.x.Answer.Seals = w.x.Info.Seals
		list = append(list, `,"reasoning.encrypted_content"`...)
	}
	most, ok := w.x.Logprobs()
	if ok {
		list = append(list, `,"message.output_text.logprobs"`...)
	}
	if w.scratch = list; len(list) > 0 {
		list[0] = '['
		w.out.Raw("include", append(list, ']'))
	}
	if most > 0 {
		w.out.Number("top_logprobs", most)
	}
}

// writeUser writes the id of the end user. The id of an agent's session becomes the
// digest of the id without its session, and the session becomes the key of the cache.
func (w *requestWriter) writeUser() {
	if !w.x.Options.Has(core.EndUser) {
		return
	}
	field := parts.UserField(w.x.Traits)
	user, session := divided(w.x.Text(core.EndUser))
	if session == "" {
		parts.AppendUser(&w.out, w.x, field)
		return
	}
	w.out.Word(field, core.DigestOf(user))
	if !w.x.Options.Has(core.CacheKey) {
		w.out.Word("prompt_cache_key", w.cacheKey(session))
	}
}

// cacheKey returns the key of a session. Nobody but the client itself can name it.
func (w *requestWriter) cacheKey(session string) string {
	digest := sha256.Sum256([]byte(w.x.Info.Tenant + "\n" + session))
	return hex.EncodeToString(digest[:])
}

// divided returns the id of an end user without its session, and the session; "" for
// one that names none.
func divided(id string) (user, session string) {
	var rest bytes.Buffer
	for name, value := range jsonscan.Members([]byte(id)) {
		if string(name) == "session_id" {
			session = jsonscan.TextOf(value)
			continue
		}
		rest.Write(name)
		rest.WriteByte(':')
		rest.Write(value)
		rest.WriteByte('\n')
	}
	return rest.String(), session
}

// writeRest writes the tier, the metadata, the options of caching, and those of storage and
// streaming.
func (w *requestWriter) writeRest() {
	parts.AppendTier(&w.out, &w.x.Options)
	w.out.Option("metadata", &w.x.Options[core.Metadata])
	parts.AppendCache(&w.out, &w.x.Options)
	w.out.Raw("store", []byte("false"))
	if w.x.Answer.Stream {
		w.out.Raw("stream", []byte("true"))
	}
}
