package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// roles are the roles of contents. Older clients have one of their own for results.
var roles = map[string]bool{user: true, model: true, "function": true}

// content reads a content. The role of instructions has no meaning.
func (r *request) content(conversation bool) {
	r.object(contentMembers, func(name string) {
		switch name {
		case "role":
			if text, ok := r.JSON.Text(); !ok {
				r.Refuse("must be a string" + r.Got())
			} else if conversation && !roles[string(text)] {
				r.NoteValue("must be 'user' or 'model'", strict.Shown(text))
			}
		case "parts":
			r.Elements("must be an array of objects", func(int) { r.part() })
		}
	})
}

// part reads a part.
func (r *request) part() {
	var value, member translate.Span // of a signature with a seal
	m := r.object(partMembers, func(name string) {
		switch name {
		case "text":
			r.WantString("must be a string")
		case "thought":
			r.Flag()
		case "thoughtSignature":
			start := r.JSON.MemberStart()
			if raw, ok := r.JSON.RawString(); !ok {
				r.Refuse("must be a string" + r.Got())
			} else if mayBeSealed(raw) {
				if _, ok := sealed(jsonscan.DecodedOf(raw)); ok {
					value, member = translate.Span{Start: r.JSON.Offset() - len(raw), End: r.JSON.Offset()}, translate.Span{Start: start, End: r.JSON.Offset()}
				}
			}
		case "inlineData":
			r.blob()
		case "fileData":
			r.file()
		case "functionCall":
			r.call()
		case "functionResponse":
			r.result()
		default:
			r.JSON.Skip()
		}
	})
	data := 0
	for _, name := range dataMembers {
		if !strict.Missing(m.Kind(name)) {
			data++
		}
	}
	if data > 1 {
		r.Note("must have only one of text, a call, a response and data")
	}
	switch isCall := !strict.Missing(m.Kind("functionCall")); {
	case member.Empty():
	case isCall: // models refuse calls without any signature
		r.View.Resigned = append(r.View.Resigned, value)
	default:
		r.CutMember(member)
	}
}

// mayBeSealed reports whether a raw signature can be that of a seal, which few are.
func mayBeSealed(raw []byte) bool {
	return jsonscan.HasEscapes(raw) || bytes.HasPrefix(jsonscan.Inner(raw), []byte("Z3d")) // "gw" in base64
}

// blob reads data.
func (r *request) blob() {
	var kind token.FileKind
	var data []byte
	m := r.object(blobMembers, func(name string) {
		switch name {
		case "mimeType":
			kind = token.FileKindOf(jsonscan.DecodedOf(r.JSON.StringOrSkip()))
		case "data":
			data = jsonscan.Inner(r.JSON.StringOrSkip())
		default:
			r.JSON.Skip()
		}
	})
	r.WantKind("mimeType", m.Kind("mimeType"), jsonscan.String)
	r.WantKind("data", m.Kind("data"), jsonscan.String)
	r.View.Costs.Files.Add(kind, data)
}

// file reads the address of a file.
func (r *request) file() {
	kind := token.ImageFile
	m := r.object(fileMembers, func(name string) {
		if raw := r.JSON.StringOrSkip(); name == "mimeType" {
			kind = token.FileKindOf(jsonscan.DecodedOf(raw))
		}
	})
	r.WantKind("fileUri", m.Kind("fileUri"), jsonscan.String)
	r.View.Costs.Files.AddNamed(kind)
}

// call reads the call of a function. Its arguments are only copied.
func (r *request) call() {
	m := r.object(callMembers, func(string) { r.JSON.Skip() })
	r.WantKind("name", m.Kind("name"), jsonscan.String)
	r.mayHave(&m, "id", jsonscan.String)
	r.mayHave(&m, "args", jsonscan.Object)
}

// mayHave checks the kind of a member that an object may have.
func (r *request) mayHave(m *strict.Members, name string, kind jsonscan.Kind) {
	if found := m.Kind(name); !strict.Missing(found) {
		r.WantKind(name, found, kind)
	}
}

// result reads the result of a function. Its response is only copied.
func (r *request) result() {
	m := r.object(resultMembers, func(name string) {
		switch name {
		case "parts":
			r.Elements("must be an array of objects", func(int) { r.part() })
		case "willContinue":
			r.Flag()
		default:
			r.JSON.Skip()
		}
	})
	r.WantKind("name", m.Kind("name"), jsonscan.String)
	r.mayHave(&m, "id", jsonscan.String)
	r.mayHave(&m, "response", jsonscan.Object)
}
