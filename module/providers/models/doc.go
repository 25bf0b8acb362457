// Package models contains the table of the models of services: how long their context and their
// answers are, which fields of requests they take, and when they end.
//
// A row is about one or several names at one service, and has its source and date. What no source
// states is unknown: an empty cell decides nothing. A row may take its empty cells from another
// one, so that a model that several services have is described once. Operators may add rows, or
// replace some, by a file in the same format; see Read.
//
// The package promises that all values of a table are valid, and that a lookup is one or a few
// accesses of a map. It contains no prices, which are in ledger/prices, by the same keys.
// README.md lists what services refuse, with their sentences.
package models
