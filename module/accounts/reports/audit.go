package reports

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

func viewAudit(e *aigateway.AuditEntry) api.AuditRow {
	v := api.AuditRow{
		ID: strconv.FormatInt(e.ID, 10), Time: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Actor: e.Actor.Name, Role: e.Role.String(),
		Address: e.Address, Request: e.Request, Action: e.Action, Object: e.Object,
		Changes: append([]aigateway.AuditChange{}, e.Changes...), Result: "ok",
	}
	if e.Failed {
		v.Result = "failed"
	}
	return v
}

// Audit answers GET /api/v1/audit: a page of rows, the newest first, or
// all of them as JSON lines.
func (r Reports) Audit(c *call.Call) (any, error) {
	log, ok := r.Store.(aigateway.AuditLog)
	if !ok {
		return nil, answer.Refuse(http.StatusNotFound, "this store keeps no audit log")
	}
	query, err := auditQuery(c)
	if err != nil {
		return nil, err
	}
	read := func() ([]api.AuditRow, error) {
		found, err := log.AuditEntries(c.Context(), query)
		if n := len(found); n > 0 {
			query.Before = found[n-1].ID
		}
		return answer.Views(found, viewAudit), err
	}
	switch c.URL.Query().Get("format") {
	case "", "json":
	case "jsonl":
		query.Limit = largestRecords
		first, err := read()
		return jsonLines[api.AuditRow]{first, read, r.Failed}, err
	default:
		return nil, answer.Invalid("format must be json or jsonl")
	}
	query.Limit++ // one more shows whether there is another page
	page := api.Page[api.AuditRow]{}
	if page.Items, err = read(); err == nil && len(page.Items) == query.Limit {
		page.Items = page.Items[:query.Limit-1]
		page.Next = page.Items[query.Limit-2].ID
	}
	return page, err
}

// auditQuery reads the parameters from, to, actor, object, action, limit and after.
func auditQuery(c *call.Call) (q aigateway.AuditQuery, err error) {
	values := c.URL.Query()
	q.Actor, q.Object, q.Action = values.Get("actor"), values.Get("object"), values.Get("action")
	if q.From, err = moment(c, "from", time.Time{}, time.UTC); err != nil {
		return q, err
	}
	if q.To, err = moment(c, "to", time.Time{}, time.UTC); err != nil {
		return q, err
	}
	if q.Limit, err = c.PageSize(usualRecords, largestRecords); err != nil {
		return q, err
	}
	if last := values.Get("after"); last != "" {
		if q.Before, err = strconv.ParseInt(last, 10, 64); err != nil || q.Before < 1 {
			return q, call.ErrCursor
		}
	}
	return q, nil
}
