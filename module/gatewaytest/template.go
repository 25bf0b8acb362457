package gatewaytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// StrictTemplate lets next answer conversations that the chat templates of self-hosted
// models accept. For other conversations, it answers 500, as servers do if a template
// raises an exception. Templates such as Qwen's require the system message at the
// beginning; templates such as Mistral's refuse two successive turns of the user.
func StrictTemplate(next Step) Step {
	return func(c *Call) {
		body, _ := io.ReadAll(c.Request.Body) // the body is a copy of the ledger's, and complete
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		var request struct {
			System   any `json:"system"`
			Messages []struct{ Role string }
		}
		_ = json.Unmarshal(body, &request) // an invalid body has no roles
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

// render returns the exception that the template raises for a conversation with these
// roles, or "".
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
