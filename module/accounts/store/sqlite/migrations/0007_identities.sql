CREATE TABLE gateway_identities (
	issuer  TEXT NOT NULL,
	subject TEXT NOT NULL,
	user_id INTEGER NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	groups  TEXT NOT NULL, -- JSON array, as of the last sign-in
	created INTEGER NOT NULL,
	used    INTEGER NOT NULL, -- the last sign-in
	PRIMARY KEY (issuer, subject)
) STRICT;

CREATE INDEX gateway_identities_user ON gateway_identities (user_id);
