ALTER TABLE gateway_state ADD COLUMN created BIGINT NOT NULL DEFAULT 0; -- of this database
ALTER TABLE gateway_state ADD COLUMN last_key BIGINT NOT NULL DEFAULT 0; -- the id of the last key that was created
UPDATE gateway_state SET
	created = floor(extract(epoch FROM clock_timestamp()) * 1000),
	last_key = coalesce((SELECT last_value FROM pg_sequences WHERE schemaname = current_schema() AND sequencename = 'gateway_keys_id_seq'), 0);
ALTER TABLE gateway_keys ALTER COLUMN id DROP IDENTITY;
