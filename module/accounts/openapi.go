package accounts

import (
	_ "embed"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
)

// openAPIDocument describes the whole HTTP API, that of models included.
//
//go:embed openapi.json
var openAPIDocument []byte

// openAPI answers GET /api/openapi.json.
func openAPI(*call.Call) (any, error) {
	return answer.Document{ContentType: "application/json", Caching: "no-cache", Body: openAPIDocument}, nil
}
