package strict

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/files"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FileData is a file that a request contains.
type FileData struct {
	Kind files.Kind
	Data []byte // in base64
}

// ReadData reads an object with a file, whose members MediaType and Data read, and returns the file
// and what is known of the members.
func (p *Pass) ReadData(objects *Table) (file FileData, m Members) {
	outer := p.File
	p.File = FileData{}
	p.Object(&m, objects)
	file, p.File = p.File, outer
	return file, m
}

// ReadFile reads a file of a kind in a content, and counts its tokens: its address or its id, or an
// object with one of them or with the file in base64.
func (p *Pass) ReadFile(kind files.Kind) {
	costs := &p.View.Costs.Files
	if p.JSON.Kind() != jsonscan.Object {
		files.AddURL(costs, kind, p.JSON.Skip())
		return
	}
	for p.JSON.OpenObject(); p.Member(); {
		name := string(p.JSON.Name())
		switch raw := p.JSON.Skip(); name {
		case "url", "file_data", "file_url", "file_id":
			files.AddURL(costs, kind, raw)
		case "data":
			files.AddData(costs, kind, raw)
		}
	}
}
