// Package service contains strict fakes of the services that have models: they refuse what the
// real services refuse of a model, with their status, their shape of errors and their sentence.
//
// What is refused is a table of Rules, a list for each vendor, which follows the list in
// module/providers/models/README.md and has its numbers: O1, A1, G1. The package knows nothing
// of the gateway, and nothing of its table of models: a mistake there is not repeated here.
//
// The list contains two entries that are no refusals, and have no rule: G8 and D2, members that
// models accept and ignore.
package service
