package gatewaytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// StrictTemplate lets next answer the conversations that the chat template of a
// self-hosted model renders, and answers 500 to the others, as the servers do in
// which such a template raises an exception. Templates like Qwen's want the system
// message at the beginning, those like Mistral's no two users in a row.
func StrictTemplate(next Step) Step {
	return func(c *Call) {
		body, _ := io.ReadAll(c.Request.Body) // the ledger's copy is whole
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		var request struct {
			System   any `json:"system"`
			Messages []struct{ Role string }
		}
		_ = json.Unmarshal(body, &request) // a body that is none has no roles
		var roles []string
		if request.System != nil {
			roles = append(roles, "system")
		}
		for _, m := range request.Messages {
			roles = append(roles, m.Role)
		}
		if exception := render(roles); exception != "" {
			Body(http.StatusInternalServerError, "application/json", []byte(`{"error":{"message":"`+exception+`"}}`))(c)
			return
		}
		next(c)
	}
}

// render returns the exception that the template raises at a conversation of these
// roles, "" for none.
func render(roles []string) (exception string) {
	for i, role := range roles {
		switch {
		case i == 0:
		case role == "system" || role == "developer":
			return "System message must be at the beginning."
		case role == "user" && roles[i-1] == "user":
			return "Conversation roles must alternate."
		}
	}
	return ""
}
