-- Times are Unix milliseconds. Texts are ids of gateway_names; the empty text is 0.
-- Amounts of money are billionths of a unit of their currency.

CREATE TABLE gateway_ledger_state (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL, -- of the schema
	zone    TEXT    NOT NULL  -- of days and months; empty until the first record
) STRICT;

INSERT INTO gateway_ledger_state (one, version, zone) VALUES (1, 0, '');

-- One row for each journal, with the position up to which its records are in the database.
CREATE TABLE gateway_ledger_nodes (
	node     INTEGER PRIMARY KEY,
	identity TEXT    NOT NULL UNIQUE,
	segment  INTEGER NOT NULL,
	position INTEGER NOT NULL,
	seen     INTEGER NOT NULL
) STRICT;

CREATE TABLE gateway_names (
	id   INTEGER PRIMARY KEY,
	name TEXT    NOT NULL UNIQUE
) STRICT;

-- Pages of records. An id consists of the milliseconds since 2020, the node, and a number.
CREATE TABLE gateway_ledger_pages (
	last    INTEGER PRIMARY KEY, -- the largest id in the page
	first   INTEGER NOT NULL,    -- the smallest
	records BLOB    NOT NULL    -- ordered by id, in the encoding of the journal
) STRICT;

-- The keys and users that have records in a page.
CREATE TABLE gateway_ledger_owners (
	last INTEGER NOT NULL, -- of the page
	kind INTEGER NOT NULL, -- 1 key 2 user
	name INTEGER NOT NULL,
	PRIMARY KEY (last, kind, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX gateway_ledger_owner ON gateway_ledger_owners (kind, name, last);

-- Sums of records, which are kept for longer than the records.
CREATE TABLE gateway_usage (
	span             INTEGER NOT NULL, -- 1 hour 2 day 3 month
	at               INTEGER NOT NULL, -- the beginning of the span
	api_key          INTEGER NOT NULL,
	holder           INTEGER NOT NULL,
	limit_name       INTEGER NOT NULL,
	model            INTEGER NOT NULL,
	provider         INTEGER NOT NULL,
	upstream         INTEGER NOT NULL,
	outcome          INTEGER NOT NULL,
	currency         INTEGER NOT NULL,
	requests         INTEGER NOT NULL,
	calls            INTEGER NOT NULL,
	streams          INTEGER NOT NULL,
	estimated        INTEGER NOT NULL,
	unpriced         INTEGER NOT NULL,
	fresh            INTEGER NOT NULL,
	cache_read       INTEGER NOT NULL,
	cache_write      INTEGER NOT NULL,
	cache_write_long INTEGER NOT NULL,
	answer           INTEGER NOT NULL,
	reasoning        INTEGER NOT NULL,
	searches         INTEGER NOT NULL,
	cost             INTEGER NOT NULL,
	held             INTEGER NOT NULL,
	duration         INTEGER NOT NULL,
	ttfb             INTEGER NOT NULL,
	ttfb_n           INTEGER NOT NULL,
	PRIMARY KEY (span, at, api_key, holder, limit_name, model, provider, upstream, outcome, currency)
) STRICT, WITHOUT ROWID;

CREATE INDEX gateway_usage_user ON gateway_usage (holder, span, at);
CREATE INDEX gateway_usage_key ON gateway_usage (api_key, span, at);
