package api

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"

// AuditRow is a row of the audit log.
type AuditRow struct {
	ID      string                  `json:"id"`
	Time    string                  `json:"at"`
	Actor   string                  `json:"actor"`
	Role    string                  `json:"role"` // "" for an actor that is no user
	Address string                  `json:"address"`
	Request string                  `json:"request"`
	Action  string                  `json:"action"`
	Object  string                  `json:"object"`
	Changes []aigateway.AuditChange `json:"changes"`
	Result  string                  `json:"result"` // ok or failed
}
