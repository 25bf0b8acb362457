package request

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// CheckFile is the strict pass over a document that describes a file which is uploaded. It refuses a name
// that the client has chosen: those of all clients are names of one account.
func CheckFile(document []byte) *fault.Fault {
	p := strict.Begin(document, strict.Brackets, strict.Fields{{Name: "file", Check: checkDescription}})
	p.Read()
	_, refused := p.End()
	return refused
}

// checkDescription checks the description of a file.
func checkDescription(p *strict.Pass, _ *strict.Table) {
	if p.JSON.Kind() != jsonscan.Object {
		p.Refuse("must be an object" + p.Got())
		return
	}
	for p.JSON.OpenObject(); p.Member(); {
		if name := string(p.JSON.Name()); strings.EqualFold(name, "name") {
			p.NoteMember(name, "must not be sent: the names of files are not for clients to choose")
		}
		p.JSON.Skip()
	}
}

// versions are the versions in the addresses of files.
var versions = []string{"v1beta", "v1", "v1alpha", "v1beta1"}

// isStored reports whether an address is that of a file that a provider stores: its name, or one that ends
// with a version and the name.
func isStored(address string) bool {
	i := strings.LastIndex(address, seal.GeminiFileID)
	if i < 0 || strings.ContainsAny(address[i:], "?#:") || strings.Contains(address[i+len(seal.GeminiFileID):], "/") {
		return false
	}
	before := strings.TrimSuffix(address[:i], "/")
	return before == "" || slices.Contains(versions, before[strings.LastIndex(before, "/")+1:])
}

// checkAddress notes the address of a file that the provider stores.
func checkAddress(p *strict.Pass, _ *strict.Table) {
	start := p.JSON.Offset()
	raw := p.JSON.StringOrSkip()
	if !isStored(jsonscan.TextOf(raw)) {
		return
	}
	if p.View.Beyond.References == nil {
		p.View.Beyond.References = new(translate.References)
	}
	named := &p.View.Beyond.References.Objects
	*named = append(*named, translate.ObjectID{Path: "fileUri", Kind: seal.GeminiFileID, Span: translate.Span{Start: start, End: p.JSON.Offset()}})
}
