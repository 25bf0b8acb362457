-- Sums of the exchanges that have a label: a tag or a customer.
CREATE TABLE gateway_usage_labels (
	label            BIGINT NOT NULL, -- tag:NAME or customer
	value            BIGINT NOT NULL,
	span             BIGINT NOT NULL, -- 1 hour 2 day 3 month
	at               BIGINT NOT NULL, -- the beginning of the span
	api_key          BIGINT NOT NULL,
	holder           BIGINT NOT NULL,
	limit_name       BIGINT NOT NULL,
	model            BIGINT NOT NULL,
	provider         BIGINT NOT NULL,
	upstream         BIGINT NOT NULL,
	outcome          BIGINT NOT NULL,
	currency         BIGINT NOT NULL,
	requests         BIGINT NOT NULL,
	calls            BIGINT NOT NULL,
	streams          BIGINT NOT NULL,
	estimated        BIGINT NOT NULL,
	unpriced         BIGINT NOT NULL,
	fresh            BIGINT NOT NULL,
	cache_read       BIGINT NOT NULL,
	cache_write      BIGINT NOT NULL,
	cache_write_long BIGINT NOT NULL,
	answer           BIGINT NOT NULL,
	reasoning        BIGINT NOT NULL,
	searches         BIGINT NOT NULL,
	cost             BIGINT NOT NULL,
	held             BIGINT NOT NULL,
	duration         BIGINT NOT NULL,
	ttfb             BIGINT NOT NULL,
	ttfb_n           BIGINT NOT NULL,
	PRIMARY KEY (label, span, at, value, api_key, holder, limit_name, model, provider, upstream, outcome, currency)
);

CREATE INDEX gateway_usage_label_value ON gateway_usage_labels (label, value, span, at);
CREATE INDEX gateway_usage_label_time ON gateway_usage_labels (span, at);
