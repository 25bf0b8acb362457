package accounts

import (
	_ "embed"
	"net/http"
)

// openAPIDocument describes the whole HTTP API, that of models included.
//
//go:embed openapi.json
var openAPIDocument document

// document is a JSON answer without an envelope.
type document []byte

// openAPI answers GET /api/openapi.json.
func (*Accounts) openAPI(*call) (any, error) { return openAPIDocument, nil }

func (d document) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(d) // the client may have left
}
