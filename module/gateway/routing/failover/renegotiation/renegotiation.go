// Package renegotiation finds the format in which a provider accepts a model, if it refuses the
// model in the usual format, and the models for which a provider encrypts no reasoning. It
// recognizes such a refusal by the answer, and remembers the call that succeeded when it
// was repeated. It makes no calls itself.
package renegotiation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Alternative is the call that a provider accepts in place of a refused one.
type Alternative struct {
	Format *format.Descriptor // nil for none
	// Unencrypted is true if the call does not ask for encrypted reasoning. Its format is
	// then that of the refused one.
	Unencrypted bool
	Period      time.Duration // how long it is valid; 0 for as long as the process runs
	expires     time.Time     // the end of its validity; zero for none
}

// FormatFor returns the format of requests of a client to p for a model with traits. It is that of
// SpeakFor, unless a learned alternative replaces that one.
func FormatFor(p *catalog.Provider, model string, client *format.Descriptor, traits *trait.Traits) *format.Descriptor {
	known := traits.ModelOf(model)
	usual := p.SpeakFor(known, client)
	if other := learned.find(refusal{p.Identity, model, usual}); p.Speaks(other, known, client) {
		return other
	}
	return usual
}

// TraitsFor returns the traits of requests in a format to p for a model: those of its
// target, unless p is known to refuse their demand for encrypted reasoning.
func TraitsFor(p *catalog.Provider, model string, f *format.Descriptor, traits *trait.Traits) *trait.Traits {
	if encrypts(traits) && unencrypted.find(refusal{p.Identity, model, f}) != nil {
		return withoutEncryption(traits)
	}
	return traits
}

func encrypts(traits *trait.Traits) bool {
	return traits.ResponsesReasoning == trait.ResponsesReasoningEncrypted
}

func withoutEncryption(traits *trait.Traits) *trait.Traits {
	changed := *traits
	changed.ResponsesReasoning = trait.ResponsesReasoningNone
	return &changed
}

// After returns the alternative with which to repeat a call. Its format is nil if the call must
// not be repeated. It is the format of the call if the call is repeated without the
// reasoning of earlier turns, or without the demand for encrypted reasoning. If a learned
// alternative cannot take this request, After returns the usual format of the provider.
func After(p *catalog.Provider, c *exchange.Conduit) Alternative {
	a, result := &c.Attempt, &c.Result
	switch {
	case a.Exchange.Request.Operation.Untranslated(): // no other format has the request
	case result.State == exchange.Unasked:
		if usual := p.SpeakFor(a.Traits.ModelOf(a.Model), a.Exchange.Request.Format); usual != a.Format {
			return Alternative{Format: usual}
		}
	case result.Fault != nil && a.Exchange.Request.Operation == translate.Generate:
		return wantedBy(p, a, result)
	}
	return Alternative{}
}

// wantedBy returns the alternative that the answer of p to an attempt asks for: another format,
// or the format of the attempt if p refuses only its reasoning.
func wantedBy(p *catalog.Provider, a *exchange.Attempt, result *exchange.Result) Alternative {
	missing := result.Status == http.StatusNotFound || result.Status == http.StatusMethodNotAllowed
	var next Alternative
	model := a.Traits.ModelOf(a.Model)
	for _, f := range p.FormatsOf(model) {
		same := f == a.Format
		if same && !repeatable(a) || !p.Speaks(f, model, a.Exchange.Request.Format) {
			continue
		}
		switch f.Provider.WantAfter(same, result.Status, result.Fault) {
		case format.WantFormat, format.WantWithoutReasoning:
			return Alternative{Format: f}
		case format.WantWithoutEncryption:
			if !a.ByteLane() && encrypts(a.Traits) {
				return Alternative{Format: f, Unencrypted: true}
			}
		}
		if next.Format == nil && missing && !same && a.Format.Provider.MissingFor > 0 {
			next = Alternative{Format: f, Period: a.Format.Provider.MissingFor}
		}
	}
	return next
}

// repeatable reports whether an attempt may be repeated in its format without the reasoning
// of earlier turns. On the byte lane, that changes the client's bytes.
func repeatable(a *exchange.Attempt) bool {
	if !a.ByteLane() {
		return true
	}
	find := a.Format.Requests.Encrypted
	return a.Traits.RetryEncrypted && find != nil && a.Encrypted == nil && len(find(a.Exchange.Request.Body)) > 0
}

// Around returns the conduit of the attempt that replaces a refused one. It has the format of
// d. If the refused attempt had the same format, the new one omits the sealed reasoning of earlier
// turns; the reasoning of the new answer is sealed nevertheless.
func (d Alternative) Around(refused *exchange.Attempt) *exchange.Conduit {
	c := &exchange.Conduit{Attempt: *refused}
	a := &c.Attempt
	switch {
	case d.Unencrypted:
		a.Traits = withoutEncryption(a.Traits)
	case d.Format != a.Format:
	case a.ByteLane():
		a.Encrypted = a.Format.Requests.Encrypted(a.Exchange.Request.Body)
	default:
		a.Seals = a.Seals.SealOnly()
	}
	a.Format = d.Format
	return c
}

// Teaches reports whether later requests may take the same alternative if it succeeds for this
// one.
func (d Alternative) Teaches(refused *exchange.Attempt) bool {
	if d.Unencrypted {
		return !mentions(refused.Exchange.Request.Body, "encrypted content")
	}
	return d.Format != refused.Format &&
		!mentions(refused.Exchange.Request.Body, strings.TrimPrefix(d.Format.Client.Endpoints[0].Path, "/"))
}

// Learn stores the alternative for later requests for the model, and reports whether it is new.
func (d Alternative) Learn(p *catalog.Provider, refused *exchange.Attempt) bool {
	table := learned
	if d.Unencrypted {
		table = unencrypted
	}
	return table.learn(refusal{p.Identity, refused.Model, refused.Format}, d)
}

// Proves reports whether the success of a repeated call proves that the provider refused
// the first call for its format, or for its demand for encrypted reasoning. If the second
// call lost more than the first, the provider may have refused a lost field instead. What
// the first call lost does not count if both have the same format.
func (d Alternative) Proves(first, second *exchange.Result) bool {
	if d.Unencrypted {
		return second.Whole() && len(second.Lane.Losses) == len(first.Lane.Losses)
	}
	return second.Whole() && len(second.Lane.Losses) == 0
}

// mentions reports whether a string of the request contains the words by which a refusal
// was recognized, such as the path of a format. A provider that quotes such a request in
// its refusal seems to ask for the alternative. Nothing is learned from it, because one client
// must not redirect the requests of others.
func mentions(body []byte, words string) bool {
	tokens := json.NewDecoder(bytes.NewReader(body))
	for {
		token, err := tokens.Token()
		if err != nil {
			return false
		}
		if text, ok := token.(string); ok && strings.Contains(strings.ReplaceAll(strings.ToLower(text), "_", " "), words) {
			return true
		}
	}
}

// table maps refusals to alternatives. The zero value is an empty table. Its methods may be
// called concurrently.
type table struct {
	mu           sync.RWMutex // guards alternatives
	alternatives map[refusal]Alternative
}

// refusal identifies the calls that a provider refuses: those for a model in a format.
type refusal struct {
	provider modellist.Identity // without a format
	model    string             // the provider's own name
	format   *format.Descriptor
}

// learned is the table of the process. It survives reloads, because a reload does not
// change what providers refuse.
var learned = new(table)

// unencrypted is the table of the models for which a provider encrypts no reasoning.
var unencrypted = new(table)

// maxLearned is the largest number of refusals in a table. Clients may use any number of
// model names of a provider that accepts all names.
const maxLearned = 1024

// find returns the format to use instead, nil if the table has none.
func (d *table) find(r refusal) *format.Descriptor {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.valid(r)
}

// valid is find for a caller that holds the lock d.mu.
func (d *table) valid(r refusal) *format.Descriptor {
	known := d.alternatives[r]
	if !known.expires.IsZero() && time.Now().After(known.expires) {
		return nil
	}
	return known.Format
}

// learn stores an alternative, and reports whether it is new. If the table is full, any other
// alternative is removed. The opposite alternative is always removed: with both, every call would
// be refused once.
func (d *table) learn(r refusal, alternative Alternative) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.valid(r) == alternative.Format {
		return false
	}
	if d.alternatives == nil {
		d.alternatives = make(map[refusal]Alternative)
	}
	delete(d.alternatives, refusal{r.provider, r.model, alternative.Format})
	for other := range d.alternatives {
		if len(d.alternatives) < maxLearned {
			break
		}
		delete(d.alternatives, other)
	}
	if alternative.Period > 0 {
		alternative.expires = time.Now().Add(alternative.Period)
	}
	d.alternatives[r] = alternative
	return true
}
