ALTER TABLE gateway_keys ADD COLUMN networks TEXT NOT NULL DEFAULT '[]'; -- JSON array of prefixes; empty for anywhere
ALTER TABLE gateway_keys ADD COLUMN limit_name TEXT NOT NULL DEFAULT '';
ALTER TABLE gateway_keys ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
