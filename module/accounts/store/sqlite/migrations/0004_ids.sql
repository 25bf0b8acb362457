ALTER TABLE gateway_state ADD COLUMN created INTEGER NOT NULL DEFAULT 0; -- of this database
ALTER TABLE gateway_state ADD COLUMN last_key INTEGER NOT NULL DEFAULT 0; -- the id of the last key that was created
UPDATE gateway_state SET
	created = CAST(strftime('%s', 'now') AS INTEGER) * 1000,
	last_key = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'gateway_keys'), 0);
