package strict

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// File reads a file of a kind in a content, and counts its tokens: its address or its id, or an
// object with one of them or with the file in base64.
func (p *Pass) File(kind token.FileKind) {
	files := &p.View.Costs.Files
	if p.JSON.Kind() != jsonscan.Object {
		files.AddURL(kind, p.JSON.Skip())
		return
	}
	for p.JSON.OpenObject(); p.Member(); {
		name := string(p.JSON.Name())
		switch raw := p.JSON.Skip(); name {
		case "url", "file_data", "file_url", "file_id":
			files.AddURL(kind, raw)
		case "data":
			files.AddData(kind, raw)
		}
	}
}
