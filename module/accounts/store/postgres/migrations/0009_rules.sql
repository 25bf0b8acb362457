-- JSON objects with the rules of limits, and a JSON array of names with values
ALTER TABLE gateway_users ADD COLUMN rules TEXT NOT NULL DEFAULT '{}';
ALTER TABLE gateway_keys ADD COLUMN rules TEXT NOT NULL DEFAULT '{}';
ALTER TABLE gateway_keys ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';

-- the digest before the last rotation, and the time until which it is valid
ALTER TABLE gateway_keys ADD COLUMN replaced BYTEA; -- null: there was none
ALTER TABLE gateway_keys ADD COLUMN replaced_until BIGINT NOT NULL DEFAULT 0;
