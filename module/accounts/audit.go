package accounts

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Audit configures the audit log of the store.
type Audit struct {
	// AuditKeep is how long rows are kept, at least one day. Default: 9600h, which is 400
	// days.
	AuditKeep caddy.Duration `json:"audit_keep,omitempty"`

	// AuditTry makes a change although its row cannot be written. Default: false; the
	// change is refused.
	AuditTry bool `json:"audit_try,omitempty"`
}

// AuditOptions implements aigateway.AuditAccounts.
func (a *Accounts) AuditOptions() aigateway.AuditOptions {
	return aigateway.AuditOptions{Keep: time.Duration(a.AuditKeep), Lenient: a.AuditTry}
}

// auditView is a row of the audit log in an answer.
type auditView struct {
	ID      string                  `json:"id"`
	At      string                  `json:"at"`
	Actor   string                  `json:"actor"`
	Role    string                  `json:"role"` // "" for an actor that is no user
	Address string                  `json:"address"`
	Request string                  `json:"request"`
	Action  string                  `json:"action"`
	Object  string                  `json:"object"`
	Changes []aigateway.AuditChange `json:"changes"`
	Result  string                  `json:"result"` // ok or failed
}

func viewAudit(e *aigateway.AuditEntry) auditView {
	v := auditView{
		ID: strconv.FormatInt(e.ID, 10), At: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Actor: e.Actor.Name, Role: e.Role.String(),
		Address: e.Address, Request: e.Request, Action: e.Action, Object: e.Object,
		Changes: append([]aigateway.AuditChange{}, e.Changes...), Result: "ok",
	}
	if e.Failed {
		v.Result = "failed"
	}
	return v
}

// audit answers GET /api/audit and GET /ai_gateway/audit: a page of rows, the newest first, or
// all of them as JSON lines.
func (r reports) audit(c *call) (any, error) {
	log, ok := r.store.(aigateway.AuditLog)
	if !ok {
		return nil, refuse(http.StatusNotFound, "this store keeps no audit log")
	}
	query, err := c.auditQuery()
	if err != nil {
		return nil, err
	}
	read := func() ([]auditView, error) {
		found, err := log.AuditEntries(c.Context(), query)
		if n := len(found); n > 0 {
			query.Before = found[n-1].ID
		}
		return views(found, viewAudit), err
	}
	switch c.URL.Query().Get("format") {
	case "", "json":
	case "jsonl":
		query.Limit = largestRecords
		first, err := read()
		return jsonLines[auditView]{first, read, r.failed}, err
	default:
		return nil, invalid("format must be json or jsonl")
	}
	query.Limit++ // one more shows whether there is another page
	page := listPage[auditView]{}
	if page.Items, err = read(); err == nil && len(page.Items) == query.Limit {
		page.Items = page.Items[:query.Limit-1]
		page.Next = page.Items[query.Limit-2].ID
	}
	return page, err
}

// auditQuery reads the parameters from, to, actor, object, action, limit and after.
func (c *call) auditQuery() (q aigateway.AuditQuery, err error) {
	values := c.URL.Query()
	q.Actor, q.Object, q.Action = values.Get("actor"), values.Get("object"), values.Get("action")
	if q.From, err = c.moment("from", time.Time{}, time.UTC); err != nil {
		return q, err
	}
	if q.To, err = c.moment("to", time.Time{}, time.UTC); err != nil {
		return q, err
	}
	limit, err := c.queryNumber(usualRecords, "limit")
	if err != nil {
		return q, err
	}
	q.Limit = min(max(limit, 1), largestRecords)
	if after := values.Get("after"); after != "" {
		if q.Before, err = strconv.ParseInt(after, 10, 64); err != nil || q.Before < 1 {
			return q, errCursor
		}
	}
	return q, nil
}

// jsonLines is an answer with all items of a list, each as JSON in a line of its own.
type jsonLines[T any] struct {
	first  []T
	next   func() ([]T, error) // reads the following items; none at the end
	failed func(error)
}

// write implements written. If items cannot be read, it aborts the connection, so that the
// client cannot mistake the previous ones for the whole list.
func (l jsonLines[T]) write(w http.ResponseWriter) {
	writeHeader(w, "application/jsonl", "no-store")
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for items := l.first; len(items) > 0; {
		for i := range items {
			if out.Encode(&items[i]) != nil {
				return // the client has left
			}
		}
		var err error
		if items, err = l.next(); err != nil {
			l.failed(err)
			panic(http.ErrAbortHandler)
		}
	}
}
