package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// batchPurpose is the purpose of a file that has a request of a batch in each line.
const batchPurpose = "batch"

// CheckText returns why a text beside an uploaded file is refused, nil if it is not.
func CheckText(name, text string) *fault.Fault {
	if name == "purpose" && text == batchPurpose {
		return fault.InvalidField(name, "must not be 'batch': this gateway takes no batches of files")
	}
	return nil
}

// uploadFields are the fields of the requests about uploads of several parts.
var uploadFields = strict.Fields{
	{Name: "filename", Check: strict.Text}, {Name: "purpose", Check: checkPurpose}, {Name: "bytes", Check: strict.Integer},
	{Name: "mime_type", Check: strict.Text}, {Name: "part_ids", Check: strict.Texts}, {Name: "md5", Check: strict.Text},
}

// checkPurpose refuses an upload whose file would have the requests of a batch: parts may end within a
// line, so that no line could be checked.
func checkPurpose(p *strict.Pass, _ *strict.Table) {
	if text, ok := p.JSON.Text(); !ok {
		p.Refuse("must be a string" + p.Got())
	} else if string(text) == batchPurpose {
		p.Note("must not be 'batch': POST /v1/files takes the requests of a batch")
	}
}

// CheckUpload is the strict pass over the body of a request about an upload of several parts.
func CheckUpload(body []byte) *fault.Fault {
	p := strict.Begin(body, strict.Brackets, uploadFields)
	p.Read()
	_, refused := p.End()
	return refused
}
