package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// Purpose is the part of a form that states what its file is for, and BatchPurpose that of a file with a
// request of a batch in each line.
const (
	Purpose      = "purpose"
	BatchPurpose = "batch"
)

// uploadFields are the fields of the requests about uploads of several parts.
var uploadFields = strict.Fields{
	{Name: "filename", Check: strict.Text}, {Name: Purpose, Check: checkPurpose}, {Name: "bytes", Check: strict.Integer},
	{Name: "mime_type", Check: strict.Text}, {Name: "part_ids", Check: strict.Texts}, {Name: "md5", Check: strict.Text},
}

// checkPurpose refuses an upload whose file would have the requests of a batch: parts may end within a
// line, so that no line could be checked.
func checkPurpose(p *strict.Pass, _ *strict.Table) {
	if text, ok := p.WantText(); ok && string(text) == BatchPurpose {
		p.Note("must not be 'batch': POST /v1/files takes the requests of a batch")
	}
}

// CheckUpload is the strict pass over the body of a request about an upload of several parts.
func CheckUpload(body []byte) *fault.Fault {
	_, refused := strict.Read(body, strict.Brackets, uploadFields).End()
	return refused
}

// batched are the endpoints for which requests of a batch may be.
var batched = strict.OneOf("/v1/chat/completions", "/v1/responses", "/v1/completions", "/v1/embeddings")

// ReadLine is the strict pass over a request of a batch in a line of a file. It returns the path of its
// endpoint, and the place of its body.
func ReadLine(line []byte) (path string, body translate.Span, refused *fault.Fault) {
	b := strict.Read(line, strict.Brackets, strict.Fields{
		{Name: "custom_id", Check: strict.Text, Must: true},
		{Name: "method", Check: strict.OneOf("POST", "POST"), Must: true},
		{Name: "url", Check: func(p *strict.Pass, objects *strict.Table) {
			start := p.JSON.Offset()
			batched(p, objects)
			path = jsonscan.TextOf(p.Since(start))
		}, Must: true},
		{Name: "body", Check: func(p *strict.Pass, _ *strict.Table) {
			if p.JSON.Kind() != jsonscan.Object {
				p.Refuse("must be an object" + p.Got())
				return
			}
			start := p.JSON.Offset()
			body = translate.Span{Start: start, End: start + len(p.JSON.Skip())}
		}, Must: true},
	})
	_, refused = b.End()
	return path, body, refused
}

// BatchOf is the strict pass over the body of a request that creates a batch of the requests in a file. It
// returns the place of the id of the file.
func BatchOf(body []byte, _ func(translate.Span) *fault.Fault) (file translate.ObjectID, refused *fault.Fault) {
	file = translate.ObjectID{Path: "input_file_id", Kind: seal.FileID}
	b := strict.Read(body, strict.Brackets, strict.Fields{
		{Name: file.Path, Check: func(p *strict.Pass, objects *strict.Table) {
			start := p.JSON.Offset()
			strict.Text(p, objects)
			file.Span = translate.Span{Start: start, End: p.JSON.Offset()}
		}, Must: true},
		{Name: "endpoint", Check: batched, Must: true},
		{Name: "completion_window", Check: strict.Text},
		{Name: "metadata", Check: strict.Options},
		{Name: "output_expires_after", Check: strict.Options},
	})
	_, refused = b.End()
	return file, refused
}
