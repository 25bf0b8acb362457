package catalog

import (
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// This file finds out what a service lacks that others with its formats have: it asks the
// protocol of the preset for the address of a call that is not made.

// unchanged is the call of a provider without a protocol of its own. There may be thousands of
// models, each with several calls.
var unchanged aigateway.Call

// call returns the call of an operation in a format for a model, by p's own name; nil if the
// service has no such endpoint.
func (p *Provider) call(f *format.Descriptor, op translate.Operation, model string) *aigateway.Call {
	if p.offer.address == nil {
		return &unchanged
	}
	call := &aigateway.Call{Format: f.Name, Operation: op, Model: model, Header: make(http.Header)}
	call.Path, call.Query = f.Provider.Call(format.Call{Model: model, Operation: op})
	if p.offer.address(call) != nil {
		return nil
	}
	return call
}

// LeftOut returns the members of requests in a format that the preset leaves out since the
// service refuses them, by their paths.
func (p *Provider) LeftOut(f *format.Descriptor, model string) []string {
	paths := []string{}
	if call := p.call(f, translate.Generate, model); call != nil {
		for _, loss := range call.Body.Unsupported {
			paths = append(paths, loss.Path)
		}
	}
	return paths
}

// endpoints returns the paths of the endpoints without a translation that a target of the model has.
func (m *Model) endpoints() []string {
	paths := []string{}
	for _, client := range formats.All() {
		for _, e := range client.Client.Endpoints {
			has := func(t Target) bool {
				f := t.Provider.FormatAt(client, e.Operation)
				return f != nil && t.Provider.call(f, e.Operation, t.UpstreamModel(string(m.Pattern))) != nil
			}
			if e.Operation.Untranslated() && slices.ContainsFunc(m.Targets, has) {
				paths = append(paths, e.Path)
			}
		}
	}
	return paths
}

// FormatAt returns the format in which p is called for an operation of a client that has no translation as
// texts have: that of the client, or for embeddings one that they are translated to; nil for none.
func (p *Provider) FormatAt(client *format.Descriptor, op translate.Operation) *format.Descriptor {
	if slices.Contains(p.Formats, client) {
		return client
	}
	if client.Embeddings.Request == nil || !op.Embeds() {
		return nil
	}
	i := slices.IndexFunc(p.Formats, func(f *format.Descriptor) bool {
		return f.Embeddings.Request == nil && f.Client.PathOf(translate.Embed) != ""
	})
	if i < 0 {
		return nil
	}
	return p.Formats[i]
}

// How tokens are counted for clients that ask for it.
const (
	countedByProvider = "provider" // estimated if the provider refuses
	countedByEstimate = "estimate"
	notCounted        = "none"
)

// Counting returns how tokens of a request to the target are counted: by the provider, which
// gets the request in the format spoken; by an estimate; or not at all. It returns "" if clients
// of their format do not ask for it.
func (t Target) Counting(model string, client, spoken *format.Descriptor) string {
	switch {
	case client.Answers.TokenCount == nil:
		return ""
	case spoken.Answers.TokenCount != nil && t.Provider.call(spoken, translate.CountTokens, model) != nil:
		return countedByProvider
	case t.EstimatesTokens():
		return countedByEstimate
	}
	return notCounted
}
