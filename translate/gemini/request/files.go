package request

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/objects"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// CheckFile is the strict pass over a document that describes a file which is uploaded. It refuses a name
// that the client has chosen: those of all clients are names of one account.
func CheckFile(document []byte) *fault.Fault {
	_, refused := strict.Read(document, strict.Brackets, strict.Fields{{Name: "file", Check: checkDescription}}).End()
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

// checkAddress notes the address of a file that the provider stores.
func checkAddress(p *strict.Pass, _ *strict.Table) {
	start := p.JSON.Offset()
	if address := jsonscan.TextOf(p.JSON.StringOrSkip()); objects.IsGeminiFile(address) {
		noteObject(p, "fileUri", seal.GeminiFileID, start)
	}
}

// checkStores notes what a tool searches for the account of the provider. Neither stores nor their names are of
// a client, so that each string in the tool counts as the id of a store, which nobody has.
func checkStores(p *strict.Pass, objects *strict.Table) {
	switch c := &p.JSON; c.Kind() {
	case jsonscan.Object:
		for c.EnterMap(); c.Member(); {
			checkStores(p, objects)
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			checkStores(p, objects)
		}
	case jsonscan.String:
		start := c.Offset()
		c.Skip()
		noteObject(p, "tools", seal.VectorStoreID, start)
	default:
		c.Skip()
	}
}

// checkFiles notes the addresses of files in a value of which nothing else is checked.
func checkFiles(p *strict.Pass, objects *strict.Table) {
	switch c := &p.JSON; c.Kind() {
	case jsonscan.Object:
		for c.EnterMap(); c.Member(); {
			if isFileURI(c.Name()) {
				checkAddress(p, objects)
			} else {
				checkFiles(p, objects)
			}
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			checkFiles(p, objects)
		}
	default:
		c.Skip()
	}
}

func isFileURI(name []byte) bool {
	return strings.EqualFold(strings.ReplaceAll(string(name), "_", ""), "fileUri")
}

// noteObject notes the id of an object of the provider, from start to the cursor.
func noteObject(p *strict.Pass, path, kind string, start int) {
	r := p.View.Beyond.Refer()
	r.Objects = append(r.Objects, translate.ObjectID{Path: path, Kind: kind, Span: translate.Span{Start: start, End: p.JSON.Offset()}})
}
