package state

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// target is a target of a model by the name that a client uses.
type target struct {
	catalog *catalog.Catalog
	*catalog.Target
	name       string
	currencies []string // in which budgets need prices
}

// warnings returns what an operator should change or watch at the target, each in a sentence.
func (t *target) warnings(now time.Time) []string {
	all := []string{}
	facts := t.Facts(t.name)
	if facts == nil && t.Provider.Listed() {
		all = append(all, "The tables list models of this service, but not this name: the request is sent as to a model that refuses nothing.")
	}
	end := t.End(t.name)
	if sentence := endOf(end, facts, now); sentence != "" {
		all = append(all, sentence)
		all = append(all, t.Changes(t.name, now)...)
	}
	price := t.catalog.Price(t.name, t.Provider.Name, t.UpstreamModel(t.name), now)
	for _, currency := range t.currencies {
		if price != nil && price.Currency != currency {
			all = append(all, "The price is in "+price.Currency+", and keys with a budget in "+currency+" are refused. Set both in one currency; 'unpriced allow' in a limit admits the model, and counts nothing.")
		}
	}
	if price == nil {
		all = append(all, "No price is known: costs stay unknown, and keys with a budget are refused. Add 'price' to the target, or a row to the file of 'catalog'; 'unpriced allow' in a limit admits the model.")
	}
	return all
}

// endOf returns the sentence about the end of a model, "" if none is announced or near. facts are nil
// if they are unknown.
func endOf(end models.End, facts *models.Facts, now time.Time) (sentence string) {
	deprecated := facts.Value("deprecated")
	switch {
	case !end.Day.IsZero() && !now.Before(end.Day):
		sentence = "The service announced the end of the model for " + end.Day.Format(time.DateOnly) + ", which has passed"
	case end.IsSoon(now):
		sentence = "The service ends the model on " + end.Day.Format(time.DateOnly)
	case deprecated != "" && deprecated <= now.Format(time.DateOnly):
		sentence = "The service has deprecated the model on " + deprecated
	default:
		return ""
	}
	if end.Successor != "" {
		sentence += "; the successor is " + end.Successor
	}
	return sentence + "."
}
