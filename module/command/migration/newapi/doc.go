// Package newapi reads the database of new-api or of one-api, and returns the gateway that
// comes of it.
//
// It promises that clients keep their keys and the names of their models, that a key may do no
// more than before, and that what is left of a quota is left of a budget.
//
// It refuses the database of the one product in the place of the other, because the numbers of
// their kinds of channels differ, and groups whose models have different channels, unless one
// of them is chosen.
package newapi
