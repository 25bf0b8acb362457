// Package prices contains the prices of models, and computes the costs of calls.
//
// Parse reads a Table from CSV, and Builtin returns the table that is compiled in.
// Table.Find returns the price of a provider's model at a time, and Price.Cost returns the
// cost of a call. Costs are computed in integers, and rounded once.
//
// An unknown price is nil, and never zero. A Price does not change after it is read. An
// error of Parse contains the line and the reason. The package does no I/O, and does not
// convert currencies.
package prices
