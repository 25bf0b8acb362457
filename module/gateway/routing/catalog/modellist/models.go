package modellist

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// sortByID sorts models by id and removes repetitions.
func sortByID(models []modelcard.Card) []modelcard.Card {
	byID := func(a, b modelcard.Card) int { return strings.Compare(a.ID, b.ID) }
	slices.SortStableFunc(models, byID)
	return slices.CompactFunc(models, func(a, b modelcard.Card) bool { return a.ID == b.ID })
}

// Named returns models with ids only, sorted by id.
func Named(ids []string) []modelcard.Card {
	models := make([]modelcard.Card, len(ids))
	for i, id := range ids {
		models[i].ID = id
	}
	return sortByID(models)
}

// Find returns the model with an id from a sorted list. If the list does not contain it,
// Find returns a model with the id only.
func Find(models []modelcard.Card, id string) modelcard.Card {
	i, found := slices.BinarySearchFunc(models, id, func(m modelcard.Card, id string) int { return strings.Compare(m.ID, id) })
	if !found {
		return modelcard.Card{ID: id}
	}
	return models[i]
}
