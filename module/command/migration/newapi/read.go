package newapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/rows"
)

// Product is a product whose database is read.
type Product struct {
	Name    string
	foreign string // a column of tokens that only the other product has
	limits  string // the column of tokens with the models
	column  string // the column of tokens with the networks
	number  func(kind) int
}

// The products.
var (
	NewAPI = Product{"new-api", "subnet", "model_limits", "allow_ips", func(k kind) int { return k.newAPI }}
	OneAPI = Product{"one-api", "model_limits", "models", "subnet", func(k kind) int { return k.oneAPI }}
)

// TableNames are the names of the tables that Read needs.
var TableNames = []string{"channels", "options", "redemptions", "tokens", "users"}

// source is a database that is read.
type source struct {
	Product
	group   string // the only group whose models are read; "" for all
	gateway migration.Gateway
	report  migration.Report
	blocked []error // what somebody has to decide or change before the import

	channels []*channel
	served   map[string][]string // the models of each group
	options  map[string]string
	users    map[string]*migration.Section
	owners   map[string]string // the names of users by their ids
	perUnit  float64           // the quota that is one dollar
}

// Read returns the gateway that comes of the tables of a product, for a site with an address
// and for one group, "" for all. The report has what differs. With an error, there is a report
// if somebody has to decide or change something before the import.
func Read(product Product, tables rows.Tables, site, group string) (*migration.Gateway, *migration.Report, error) {
	if tables["channels"] == nil || tables["tokens"] == nil {
		return nil, nil, fmt.Errorf("the source has no tables channels and tokens of %s", product.Name)
	}
	s := &source{
		Product: product, group: group, options: map[string]string{}, served: map[string][]string{},
		users: map[string]*migration.Section{}, owners: map[string]string{},
	}
	s.gateway.Site = site
	tokens := sections("tokens", tables)
	if len(tokens) > 0 && tokens[0].Values[product.foreign] != nil && tokens[0].Values[product.limits] == nil {
		return nil, nil, fmt.Errorf("this is not a database of %s: tokens has the column %s; choose the other one of new-api and one-api", product.Name, product.foreign)
	}
	for _, row := range sections("options", tables) {
		s.options[row.Text("key")] = row.Text("value")
	}
	s.perUnit = cmp.Or(s.option("QuotaPerUnit"), 500_000)
	s.gateway.Global = append(s.gateway.Global, migration.Words("store", "sqlite"))
	s.readChannels(sections("channels", tables))
	s.models()
	s.people(sections("users", tables))
	s.keys(tokens)
	s.leftovers(sections("redemptions", tables))
	s.gateway.Clean(&s.report)
	s.gateway.WarnOfSmallBudgets(&s.report)
	s.report.Kept = []string{
		migration.Count(len(s.gateway.Providers), "provider"), migration.Count(len(s.gateway.Models), "model"),
		migration.Count(len(s.gateway.Keys), "key"), migration.Count(len(s.gateway.Limits), "limit"), migration.Count(len(s.gateway.Users), "user"),
	}
	return &s.gateway, &s.report, errors.Join(s.blocked...)
}

// sections returns the rows of a table that are not deleted, by their ids.
func sections(table string, tables rows.Tables) []*migration.Section {
	all := migration.Sections(table, tables[table])
	all = slices.DeleteFunc(all, func(row *migration.Section) bool { return row.Text("deleted_at") != "" })
	slices.SortStableFunc(all, func(a, b *migration.Section) int {
		x, _ := a.Number("id")
		y, _ := b.Number("id")
		return cmp.Compare(x, y)
	})
	for _, row := range all {
		row.Place = table + " " + row.Text("id")
	}
	return all
}

// option returns a number of the options; 0 if it is not saved.
func (s *source) option(name string) float64 {
	n, _ := migration.NewSection("", map[string]any{"n": s.options[name]}).Number("n")
	return n
}

// ratios returns the numbers of an option that is an object in JSON.
func (s *source) ratios(name string) map[string]float64 {
	all := map[string]float64{}
	values := object(s.options[name])
	for _, key := range values.Names() {
		if n, ok := values.Number(key); ok {
			all[key] = n
		}
	}
	return all
}

// object returns a value that is an object, or its text in JSON; an empty one for anything
// else.
func object(value any) *migration.Section {
	if text, ok := value.(string); ok {
		value = nil
		_ = json.Unmarshal([]byte(text), &value) // what is no JSON is an empty object
	}
	return migration.NewSection("", value)
}

// list returns the elements of a text with separators, without blanks.
func list(text, separators string) (all []string) {
	for _, element := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if element = strings.TrimSpace(element); element != "" {
			all = append(all, element)
		}
	}
	return all
}

// leftovers reports what the database has and the gateway does not.
func (s *source) leftovers(redemptions []*migration.Section) {
	promised := 0.0
	for _, row := range redemptions {
		if quota, _ := row.Number("quota"); row.Text("status") == "1" {
			promised += quota
		}
	}
	if promised > 0 {
		s.report.Add(migration.Lost, "redemptions", "codes of %s USD that nobody has used have no counterpart", migration.Decimal(promised/s.perUnit))
	}
	for _, option := range [...]struct{ name, text string }{
		{"ModelPrice", "prices of calls have no counterpart: the price is that of tokens, or unknown"},
		{"GroupGroupRatio", "ratios between groups have no counterpart"},
		{"AutomaticDisableChannelEnabled", "a target rests after failures, and is tried again"},
	} {
		if value := s.options[option.name]; value != "" && value != "{}" && value != "false" {
			s.report.Add(migration.Lost, "options "+option.name, "%s", option.text)
		}
	}
	if s.options["RegisterEnabled"] == "true" {
		s.report.Add(migration.Lost, "options RegisterEnabled", "strangers cannot register; see registration of accounts")
	}
	s.report.Add(migration.Changed, "logs", "the requests of the past stay in the old database")
}
