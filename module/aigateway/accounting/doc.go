// Package accounting contains the records of the gateway: what each exchange has used and
// cost, the ledgers that keep the records, and the queries of what they contain. Stores that
// keep a ledger implement LedgerStore. Other guests do not need this package.
package accounting
