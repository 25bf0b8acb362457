// Package reports serves what is recorded: usage, records and their stream, the states of
// limits, the audit log, and captures.
//
// It promises that users see only what is theirs and administrators of a team only what is the
// team's, that a list is read page by page, and that a client cannot mistake a part of a list
// for all of it. It refuses to change anything but captures.
package reports

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Reports are what users see of their usage and their limits.
type Reports struct {
	Store  aigateway.Store
	Limits aigateway.LimitReader // nil for the commands of this machine
	Failed func(error)           // logs why a table breaks off
	Ended  <-chan struct{}       // is closed when the configuration ends

	Streams *throttle.Shares // streams of records, by user

	Discount Discount // nil without a gateway
}

func viewUsage(u *accounting.Usage, zone *time.Location) api.Usage {
	if u.Others > 0 {
		u = new(*u)
		for _, value := range cursorTexts(u) {
			*value = strings.TrimPrefix(*value, accounting.Others)
		}
	}
	v := api.Usage{
		Key: u.Key, User: u.User, Limit: u.Limit, Model: u.Model, Provider: u.Provider, Upstream: u.Upstream, Outcome: u.Outcome,
		Tag: u.Tag, Customer: u.Customer, Label: u.Label, Others: u.Others,
		Requests: u.Requests, Calls: u.Calls, Tokens: viewTokens(&u.Tokens), CostMicro: micros(u.Cost.Nanos), Currency: u.Cost.Currency,
		Estimated: u.Estimated, Unpriced: u.Unpriced, Floor: u.Unpriced > 0, SavedMicro: micros(u.Saved),
	}
	if u.FirstBytes > 0 {
		v.FirstByte = (u.FirstByte / time.Duration(u.FirstBytes)).Milliseconds()
	}
	if !u.At.IsZero() {
		v.Start = u.At.In(zone).Format(time.RFC3339)
	}
	return v
}

// micros returns nanos as micros, rounded half up.
func micros(nanos int64) int64 { return (nanos + 500) / 1000 }

func viewTokens(t *token.Counts) api.Tokens {
	return api.Tokens{
		Input: t.Fresh, CacheRead: t.CacheRead, CacheWrite: t.Written(), Output: t.Output(), Reasoning: t.Reasoning, Searches: t.Searches,
	}
}

// behindHeader has the same as api.LedgerPage.Behind, for comma-separated values.
const behindHeader = "X-Gateway-Behind-Seconds"

// behind returns the whole seconds that the ledger is behind, nil if that is not known. It
// sets the header of the answer.
func behind(c *call.Call, reader accounting.LedgerReader) *int64 {
	lagging, ok := reader.(accounting.LaggingReader)
	if !ok {
		return nil
	}
	age, known := lagging.Behind()
	if !known {
		return nil
	}
	seconds := int64(age / time.Second)
	c.AnswerHeader.Set(behindHeader, strconv.FormatInt(seconds, 10))
	return &seconds
}

const (
	// usualRange is the default time from the start to the end of sums.
	usualRange = 30 * 24 * time.Hour
	// largestUsage is the largest number of sums in a page, and the default.
	largestUsage = 1000
	// tablePage is the largest number of sums of a table in memory.
	tablePage = 5000
)

// Usage answers GET /api/v1/usage. Users see their own usage. Administrators see the usage of
// all users, or of the user that the query names.
func (r Reports) Usage(c *call.Call) (any, error) {
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	query, err := restrictedUsage(c, zone)
	if err != nil {
		return nil, err
	}
	table, err := wantsTable(c.Request)
	if err != nil {
		return nil, err
	}
	lag := behind(c, reader) // before reading: what is written meanwhile may be missing
	if table {
		return r.usageTable(c, reader, query, zone)
	}
	page, err := usagePage(c, reader, query, zone)
	return api.LedgerPage[api.Usage]{Page: page, Lag: lag}, err
}

// restrictedUsage reads a query for sums, and restricts it to what the caller may see.
func restrictedUsage(c *call.Call, zone *time.Location) (accounting.UsageQuery, error) {
	query, err := usageQuery(c, zone)
	if err != nil {
		return query, err
	}
	user := query.Only[accounting.ByUser]
	team, err := restrict(c, &user, &query.From)
	query.Only[accounting.ByUser] = user
	if team != "" {
		query.Limits = []string{team}
	}
	return query, err
}

// restrict restricts a query to the user's own usage, except for administrators, or to the usage
// of the team that the query of the request names. The query then begins with the creation of
// the account or of the team, so that it excludes the usage of an earlier one with the same
// name.
func restrict(c *call.Call, user *string, earliest *time.Time) (team string, err error) {
	team, start, err := c.OfTeam()
	switch {
	case err != nil:
		return "", err
	case team == "" && !c.MayAskFor(*user):
		return "", answer.Refuse(http.StatusForbidden, "only administrators may see the usage of others")
	case team == "" && !c.IsAdmin():
		*user, start = c.User.Name, c.User.Created
	}
	if start.After(*earliest) {
		*earliest = start
	}
	return team, nil
}

// selectable are the dimensions of which a parameter selects a value.
var selectable = []accounting.Dimension{
	accounting.ByKey, accounting.ByUser, accounting.ByModel, accounting.ByProvider, accounting.ByUpstream, accounting.ByOutcome,
}

// usageQuery reads the parameters from, to, by, those of selectable, and those of usageLabel.
func usageQuery(c *call.Call, zone *time.Location) (q accounting.UsageQuery, err error) {
	values := c.URL.Query()
	q.Only = make(map[accounting.Dimension]string)
	for _, dimension := range selectable {
		q.Only[dimension] = values.Get(string(dimension))
	}
	if q.To, err = moment(c, "to", time.Now(), zone); err != nil {
		return q, err
	}
	if q.From, err = moment(c, "from", q.To.Add(-usualRange), zone); err != nil {
		return q, err
	}
	if err := usageLabel(&q, values); err != nil {
		return q, err
	}
	times, label := 0, q.Label
	for word := range strings.SplitSeq(values.Get("by"), ",") {
		dimension := accounting.Dimension(word)
		if slices.Contains(q.By, dimension) {
			return q, errBy
		}
		switch dimension {
		case "":
		case accounting.ByHour, accounting.ByDay, accounting.ByMonth:
			times++
			q.By = append(q.By, dimension)
		case accounting.ByKey, accounting.ByUser, accounting.ByLimit, accounting.ByModel, accounting.ByProvider, accounting.ByUpstream, accounting.ByOutcome:
			q.By = append(q.By, dimension)
		default:
			if !dimension.IsLabel() && dimension != accounting.ByLabel || label != "" && label != dimension {
				return q, errBy
			}
			label = dimension
			q.By = append(q.By, dimension)
		}
	}
	if times > 1 {
		return q, errBy
	}
	return q, largest(c, &q, len(q.By)-times)
}

// mostLargest is the largest number of values with sums of their own.
const mostLargest = 250

// largest reads the parameters largest and measure of a query with so many dimensions besides
// time.
func largest(c *call.Call, q *accounting.UsageQuery, dimensions int) error {
	number, err := c.QueryNumber(0, "largest")
	if err != nil || number == 0 {
		return err
	}
	if number < 0 || number > mostLargest || dimensions == 0 {
		return answer.Invalid("largest is a number up to %d, for dimensions besides time", mostLargest)
	}
	measure := accounting.Measure(cmp.Or(c.URL.Query().Get("measure"), string(accounting.MeasureCost)))
	switch measure {
	case accounting.MeasureCost, accounting.MeasureTokens, accounting.MeasureRequests:
		q.Largest = &accounting.Largest{Number: number, Measure: measure}
		return nil
	}
	return answer.Invalid("measure is cost, tokens or requests")
}

// usageLabel reads the parameters tag and customer.
func usageLabel(q *accounting.UsageQuery, values url.Values) error {
	text, customer := values.Get("tag"), values.Get("customer")
	switch {
	case text != "" && customer != "":
		return answer.Invalid("usage is selected by a tag or by a customer, not by both")
	case customer != "":
		q.Label, q.Value = accounting.ByCustomer, customer
	case text != "":
		tag, err := aigateway.ParseTag(text)
		if err != nil {
			return answer.Invalid("tag: %v", err)
		}
		q.Label, q.Value = accounting.ByTag(tag.Name), tag.Value
	}
	return nil
}

var errBy = answer.Invalid("by is a list of key, user, limit, model, provider, upstream_model, outcome, one of hour, day and month, and one of customer, tag:NAME and label, each once")

// moment reads a parameter that is a date in the zone of the ledger, an RFC 3339 time, or a time
// before now: -24h or -7d.
func moment(c *call.Call, name string, standard time.Time, zone *time.Location) (time.Time, error) {
	text := c.URL.Query().Get(name)
	if text == "" {
		return standard, nil
	}
	if moment, err := aigateway.ParseDay(text, zone); err == nil {
		return moment, nil
	}
	if age, found := strings.CutPrefix(text, "-"); found {
		if ago, err := caddy.ParseDuration(age); err == nil && ago >= 0 {
			return time.Now().Add(-ago), nil
		}
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return moment, answer.Invalid("%s must be a date, YYYY-MM-DD, an RFC 3339 time, or a time before now, such as -24h or -7d", name)
	}
	return moment, nil
}

// usagePage returns the page that the parameters limit and after select. after is the value
// of next in the previous page.
func usagePage(c *call.Call, reader accounting.LedgerReader, q accounting.UsageQuery, zone *time.Location) (page api.Page[api.Usage], err error) {
	limit, err := c.PageSize(largestUsage, largestUsage)
	if err != nil {
		return page, err
	}
	if q.After, err = parseCursor(c.URL.Query().Get("after")); err != nil {
		return page, err
	}
	q.Limit = limit + 1 // one more shows whether there is another page
	sums, err := reader.Usage(c.Context(), q)
	if err != nil {
		return page, err
	}
	page.Items = answer.Views(sums[:min(limit, len(sums))], func(u *accounting.Usage) api.Usage { return viewUsage(u, zone) })
	if len(sums) > limit {
		page.Next = formatCursor(&sums[limit-1])
	}
	return page, nil
}

// cursorTexts returns the texts of a sum that a cursor contains. The cursor of a page is the
// position of its last sum.
func cursorTexts(u *accounting.Usage) []*string {
	return []*string{&u.Key, &u.User, &u.Limit, &u.Model, &u.Provider, &u.Upstream, &u.Outcome, &u.Tag, &u.Customer, &u.Label, &u.Cost.Currency}
}

func formatCursor(last *accounting.Usage) string {
	position := []string{last.At.Format(time.RFC3339)}
	for _, text := range cursorTexts(last) {
		position = append(position, *text)
	}
	text, _ := json.Marshal(position) // strings always encode
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseCursor returns the sum at the position of a cursor, nil for none.
func parseCursor(text string) (*accounting.Usage, error) {
	if text == "" {
		return nil, nil
	}
	var position []string
	last := new(accounting.Usage)
	texts := cursorTexts(last)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &position) != nil || len(position) != 1+len(texts) {
		return nil, call.ErrCursor
	}
	if last.At, err = time.Parse(time.RFC3339, position[0]); err != nil {
		return nil, call.ErrCursor
	}
	for i, text := range texts {
		*text = position[1+i]
	}
	return last, nil
}

// The number of states from which a page of limits ends.
const (
	usualStates   = 100
	LargestStates = 500 // a request for more gets so many
)

// LimitStates answers GET /api/v1/limits. Users see the limits of their keys and their own,
// but not those of groups and of the gateway. Administrators see all.
func (r Reports) LimitStates(c *call.Call) (any, error) {
	if r.Limits == nil {
		return nil, answer.Refuse(http.StatusNotFound, "there are no limits here")
	}
	values := c.URL.Query()
	size, err := c.PageSize(usualStates, LargestStates)
	if err != nil {
		return nil, err
	}
	q := aigateway.LimitQuery{
		User: values.Get("user"), Key: values.Get("key"), Limit: values.Get("name"), Customer: values.Get("customer"), After: values.Get("after"),
		Most: size,
	}
	team, _, err := c.OfTeam()
	switch {
	case err != nil:
		return nil, err
	case team != "":
		q.Limit = team
	case !c.MayAskFor(q.User):
		return nil, answer.Refuse(http.StatusForbidden, "only administrators may see the limits of others")
	case !c.IsAdmin():
		q.User, q.Own = c.User.Name, true
	}
	page, err := r.Limits.Limits(c.Context(), q)
	if err != nil {
		return nil, err
	}
	list := api.List(page.States)
	list.Next = page.Next
	return list, nil
}
