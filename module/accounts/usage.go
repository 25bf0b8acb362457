package accounts

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// usageView is one sum in an answer.
type usageView struct {
	From     string `json:"from,omitempty"` // the beginning of the hour, day or month
	Key      string `json:"key,omitempty"`
	User     string `json:"user,omitempty"`
	Model    string `json:"model,omitempty"`
	Provider string `json:"provider,omitempty"`
	Upstream string `json:"upstream_model,omitempty"`
	Outcome  string `json:"outcome,omitempty"`

	Requests        int64 `json:"requests"`
	Calls           int64 `json:"calls"`
	InputTokens     int64 `json:"input_tokens"` // fresh
	CacheReadTokens int64 `json:"cache_read_tokens"`
	CacheWrite      int64 `json:"cache_write_tokens"`
	OutputTokens    int64 `json:"output_tokens"` // with reasoning
	ReasoningTokens int64 `json:"reasoning_tokens"`
	Searches        int64 `json:"searches"`

	CostMicro int64  `json:"cost_micro"` // rounded half up
	Currency  string `json:"currency"`
	Estimated int64  `json:"estimated"` // calls whose tokens are not the provider's
	Unpriced  int64  `json:"unpriced"`  // calls of unknown cost
	Floor     bool   `json:"floor"`     // the cost is at least that: some calls are unpriced
}

func viewUsage(u aigateway.Usage, zone *time.Location) usageView {
	t := u.Tokens
	v := usageView{
		Key: u.Key, User: u.User, Model: u.Model, Provider: u.Provider, Upstream: u.Upstream, Outcome: u.Outcome,
		Requests: u.Requests, Calls: u.Calls, InputTokens: t.Input, CacheReadTokens: t.CacheRead,
		CacheWrite: t.CacheWrite + t.CacheWriteLong, OutputTokens: t.Output + t.Reasoning, ReasoningTokens: t.Reasoning,
		Searches: t.Searches, CostMicro: (u.Cost.Nanos + 500) / 1000, Currency: u.Cost.Currency,
		Estimated: u.Estimated, Unpriced: u.Unpriced, Floor: u.Unpriced > 0,
	}
	if !u.At.IsZero() {
		v.From = u.At.In(zone).Format(time.RFC3339)
	}
	return v
}

// position returns a text that orders sums, and is different for each.
func (v *usageView) position(at time.Time) []string {
	return []string{fmt.Sprintf("%020d", at.UnixMilli()), v.Key, v.User, v.Model, v.Provider, v.Upstream, v.Outcome, v.Currency}
}

// usagePage is a page of sums. Next is empty on the last one.
type usagePage struct {
	Items []usageView `json:"items"`
	Next  string      `json:"next"`
}

const (
	// usualRange is the time that is added up if the request names no beginning.
	usualRange = 30 * 24 * time.Hour
	// largestUsage is the largest page of sums, and the usual one.
	largestUsage = 1000
)

// usage answers GET /api/usage: the user's own, and for administrators that of all
// or of the user they name.
func (a *Accounts) usage(c *call) (any, error) {
	user := c.URL.Query().Get("user")
	if c.user != nil && c.user.Role < aigateway.RoleAdmin {
		if user != "" && user != c.user.Name {
			return nil, refuse(http.StatusForbidden, "only administrators may see the usage of others")
		}
		user = c.user.Name
	}
	reader, ok := a.store.(aigateway.LedgerReader)
	if !ok {
		return nil, refuse(http.StatusNotFound, "this store keeps no ledger")
	}
	zone, err := reader.Location(c.Context())
	if err != nil {
		return nil, err
	}
	query, err := c.usageQuery(user, zone)
	if err != nil {
		return nil, err
	}
	sums, err := reader.Usage(c.Context(), query)
	if err != nil {
		return nil, err
	}
	if wantsTable(c.Request) {
		return usageTable(sums, query.By, zone)
	}
	return c.usagePage(sums, zone)
}

// usageQuery reads what is asked for: from and to, the dimensions by, and key.
func (c *call) usageQuery(user string, zone *time.Location) (q aigateway.UsageQuery, err error) {
	values := c.URL.Query()
	q = aigateway.UsageQuery{User: user, Key: values.Get("key")}
	if q.To, err = c.moment("to", time.Now(), zone); err != nil {
		return q, err
	}
	if q.From, err = c.moment("from", q.To.Add(-usualRange), zone); err != nil {
		return q, err
	}
	times := 0
	for by := range strings.SplitSeq(values.Get("by"), ",") {
		dimension := aigateway.Dimension(by)
		if slices.Contains(q.By, dimension) {
			return q, errBy
		}
		switch dimension {
		case "":
		case aigateway.ByHour, aigateway.ByDay, aigateway.ByMonth:
			times++
			q.By = append(q.By, dimension)
		case aigateway.ByKey, aigateway.ByUser, aigateway.ByModel, aigateway.ByProvider, aigateway.ByUpstream, aigateway.ByOutcome:
			q.By = append(q.By, dimension)
		default:
			return q, errBy
		}
	}
	if times > 1 {
		return q, errBy
	}
	return q, nil
}

var errBy = invalid("by is a list of key, user, model, provider, upstream_model, outcome and one of hour, day and month, each once")

// moment reads a moment of the query: a date in the zone of the ledger, or an RFC 3339
// time.
func (c *call) moment(name string, standard time.Time, zone *time.Location) (time.Time, error) {
	text := c.URL.Query().Get(name)
	if text == "" {
		return standard, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return at, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, invalid("%s must be a date, YYYY-MM-DD, or an RFC 3339 time", name)
	}
	return at, nil
}

// usagePage returns the page that the query asks for, by the parameters limit and
// after: what next of the page before was.
func (c *call) usagePage(sums []aigateway.Usage, zone *time.Location) (usagePage, error) {
	limit, err := c.queryNumber(largestUsage, "limit")
	if err != nil {
		return usagePage{}, err
	}
	after, err := parseCursor(c.URL.Query().Get("after"))
	if err != nil {
		return usagePage{}, invalid("after must be the value of next in the page before")
	}
	limit = min(max(limit, 1), largestUsage)
	type positioned struct {
		view usageView
		at   []string
	}
	var rest []positioned
	for _, sum := range sums {
		view := viewUsage(sum, zone)
		if at := view.position(sum.At); slices.Compare(at, after) > 0 {
			rest = append(rest, positioned{view, at})
		}
	}
	slices.SortFunc(rest, func(a, b positioned) int { return slices.Compare(a.at, b.at) })
	page := usagePage{Items: []usageView{}}
	for _, item := range rest[:min(limit, len(rest))] {
		page.Items = append(page.Items, item.view)
	}
	if len(rest) > limit {
		page.Next = formatCursor(rest[limit-1].at)
	}
	return page, nil
}

func formatCursor(position []string) string {
	text, _ := json.Marshal(position) // strings can be written
	return base64.RawURLEncoding.EncodeToString(text)
}

var errCursor = errors.New("this is no cursor")

func parseCursor(text string) (position []string, err error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &position) != nil {
		return nil, errCursor
	}
	return position, nil
}
