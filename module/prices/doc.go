// Package prices knows what models cost.
//
// A Table is read from CSV; Builtin is the one that is compiled in. Find looks up
// the price of a provider's model at a moment, and Price.Cost computes what a call
// costs: in integers, rounded once. The package promises that an unknown price is
// nil and never zero, that a Price never changes once it is read, and that a wrong
// row is refused with its line and the reason. It does no I/O, and converts no
// currency into another.
package prices
