-- Times are Unix milliseconds. Texts are ids of gateway_names, 0 for the empty one.
-- Amounts of money are billionths of a unit.

CREATE TABLE gateway_ledger_state (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL, -- of the schema
	zone    TEXT    NOT NULL  -- of days and months; empty until the first record
) STRICT;

INSERT INTO gateway_ledger_state (one, version, zone) VALUES (1, 0, '');

-- One row for each journal, with the place behind the last entry that is applied.
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

CREATE TABLE gateway_ledger (
	id         INTEGER PRIMARY KEY, -- milliseconds since 2020, node, number
	request    TEXT    NOT NULL,
	api_key    INTEGER NOT NULL,
	holder     INTEGER NOT NULL, -- the user
	limit_name INTEGER NOT NULL,
	model      INTEGER NOT NULL,
	operation  INTEGER NOT NULL,
	format     INTEGER NOT NULL,
	outcome    INTEGER NOT NULL,
	stream     INTEGER NOT NULL,
	status     INTEGER NOT NULL,
	ttfb       INTEGER NOT NULL, -- nanoseconds
	duration   INTEGER NOT NULL  -- nanoseconds
) STRICT;

CREATE INDEX gateway_ledger_key ON gateway_ledger (api_key, id);
CREATE INDEX gateway_ledger_user ON gateway_ledger (holder, id);
CREATE INDEX gateway_ledger_request ON gateway_ledger (request);

CREATE TABLE gateway_ledger_calls (
	id               INTEGER NOT NULL,
	call             INTEGER NOT NULL, -- from 0
	provider         INTEGER NOT NULL,
	upstream         INTEGER NOT NULL, -- the provider's name of the model
	answered         INTEGER NOT NULL, -- the model that the answer names
	format           INTEGER NOT NULL,
	status           INTEGER NOT NULL,
	source           INTEGER NOT NULL, -- 0 none 1 provider 2 partial 3 estimated 4 reserved
	fresh            INTEGER NOT NULL,
	cache_read       INTEGER NOT NULL,
	cache_write      INTEGER NOT NULL,
	cache_write_long INTEGER NOT NULL,
	answer           INTEGER NOT NULL, -- output without reasoning
	reasoning        INTEGER NOT NULL,
	searches         INTEGER NOT NULL,
	price            INTEGER NOT NULL, -- 0 if it is unknown
	currency         INTEGER NOT NULL,
	cost             INTEGER,          -- NULL if it is unknown
	held             INTEGER NOT NULL,
	PRIMARY KEY (id, call)
) STRICT, WITHOUT ROWID;

-- Sums of records, which outlive them.
CREATE TABLE gateway_usage (
	span             INTEGER NOT NULL, -- 1 hour 2 day 3 month
	at               INTEGER NOT NULL, -- its beginning
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
