-- What the cache of answers has saved: the cost of calls that were not made.
ALTER TABLE gateway_usage ADD COLUMN saved BIGINT NOT NULL DEFAULT 0;
ALTER TABLE gateway_usage_labels ADD COLUMN saved BIGINT NOT NULL DEFAULT 0;
