// Package problem writes errors as problem documents.
//
// They have the form of RFC 9457, and are not cached.
package problem

import (
	"encoding/json"
	"net/http"
)

// ContentType is that of problem documents.
const ContentType = "application/problem+json"

// document is a problem document. Without a type, the status says all that programs need.
type document struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Write writes the answer to a request that failed, with a sentence for its client.
func Write(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", ContentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(document{http.StatusText(status), status, detail}) // the client may have left
}
