-- Sums of the exchanges that have a label: a tag or a customer.
CREATE TABLE gateway_usage_labels (
	label            INTEGER NOT NULL, -- tag:NAME or customer
	value            INTEGER NOT NULL,
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
	PRIMARY KEY (label, span, at, value, api_key, holder, limit_name, model, provider, upstream, outcome, currency)
) STRICT, WITHOUT ROWID;

CREATE INDEX gateway_usage_label_value ON gateway_usage_labels (label, value, span, at);
CREATE INDEX gateway_usage_label_time ON gateway_usage_labels (span, at);
