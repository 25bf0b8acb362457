package state

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// warningsOf returns what an operator should change or watch at a target, each in a sentence. facts
// and price are nil if they are unknown; listed states whether the tables list models of the service.
func warningsOf(facts *models.Facts, listed bool, price *prices.Price, now time.Time) []string {
	all := []string{}
	if facts == nil && listed {
		all = append(all, "The tables list models of this service, but not this name: the request is sent as to a model that refuses nothing.")
	}
	if end := endOf(facts, now); end != "" {
		all = append(all, end)
	}
	if price == nil {
		all = append(all, "No price is known: costs stay unknown, and keys with a budget are refused unless they allow unpriced models.")
	}
	return all
}

// endOf returns the sentence about the end of a model, "" if none is announced or near.
func endOf(facts *models.Facts, now time.Time) (sentence string) {
	deprecated := facts.Value("deprecated")
	switch end := facts.Shutdown(); {
	case !end.IsZero() && !now.Before(end):
		sentence = "The service announced the end of the model for " + end.Format(time.DateOnly) + ", which has passed"
	case facts.EndsSoon(now):
		sentence = "The service ends the model on " + end.Format(time.DateOnly)
	case deprecated != "" && deprecated <= now.Format(time.DateOnly):
		sentence = "The service has deprecated the model on " + deprecated
	default:
		return ""
	}
	if successor := facts.Value("successor"); successor != "" {
		sentence += "; the successor is " + successor
	}
	return sentence + "."
}
