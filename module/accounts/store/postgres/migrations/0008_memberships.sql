-- the issuer whose group keeps the user in the team; empty: set by hand
ALTER TABLE gateway_members ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
