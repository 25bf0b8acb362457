-- Statistics for the choice of indexes, as ANALYZE finds them in a ledger with many keys. Without
-- them, SQLite expects few rows in a span, and reads the sums of all keys for those of one.
ANALYZE sqlite_schema;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('gateway_usage', 'gateway_usage', '500000 80000 200 2 2 2 1 1 1 1 1'),
	('gateway_usage', 'gateway_usage_user', '500000 2000 700 4'),
	('gateway_usage', 'gateway_usage_key', '500000 50 15 2'),
	('gateway_usage_labels', 'gateway_usage_labels', '100000 50000 20000 50 5 2 2 2 1 1 1 1 1'),
	('gateway_usage_labels', 'gateway_usage_label_value', '100000 50000 1000 300 5'),
	('gateway_usage_labels', 'gateway_usage_label_time', '100000 40000 100');

ANALYZE sqlite_schema; -- loads them
