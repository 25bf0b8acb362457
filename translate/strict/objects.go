package strict

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Options reads an object only to find repeated members. A value of another kind is skipped
// without a fault.
func Options(p *Pass, _ *Table) {
	for p.JSON.OpenObject(); p.Member(); {
		p.JSON.Skip()
	}
}

// wantObject notes a fault of a value that is not an object.
func wantObject(p *Pass) {
	if p.JSON.Kind() != jsonscan.Object {
		p.Note("must be an object")
	}
}

// Groups is Options, which looks into the objects inside as well, of which the format has rows.
func Groups(p *Pass, objects *Table) {
	for p.JSON.OpenObject(); p.Member(); {
		if i := objects.Find(p.JSON.Name()); i >= 0 && objects.checks[i].objects != nil {
			p.push(objects.Names()[i])
			Options(p, nil)
			p.pop()
		} else {
			p.JSON.Skip()
		}
	}
}
