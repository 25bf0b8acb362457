package modellist

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// sortByID sorts models by id and removes repetitions.
func sortByID(models []translate.Model) []translate.Model {
	byID := func(a, b translate.Model) int { return strings.Compare(a.ID, b.ID) }
	slices.SortStableFunc(models, byID)
	return slices.CompactFunc(models, func(a, b translate.Model) bool { return a.ID == b.ID })
}

// Named returns models of which nothing but the id is known, sorted.
func Named(ids []string) []translate.Model {
	models := make([]translate.Model, len(ids))
	for i, id := range ids {
		models[i].ID = id
	}
	return sortByID(models)
}

// Find returns the model with this id of a sorted list. If the list does not have
// it, the model has nothing but the id.
func Find(models []translate.Model, id string) translate.Model {
	i, found := slices.BinarySearchFunc(models, id, func(m translate.Model, id string) int { return strings.Compare(m.ID, id) })
	if !found {
		return translate.Model{ID: id}
	}
	return models[i]
}
