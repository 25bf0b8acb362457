// Package request inspects, reads and writes requests of the messages format.
//
// Inspect is strict about what the format states and passes what it does not:
// unknown fields and blocks. What the provider has to check, such as the pairing of
// tool results or thinking budgets, is not checked.
package request
