-- Times are Unix milliseconds, 0 for never. Ids are never given twice.

CREATE TABLE gateway_state (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	version  INTEGER NOT NULL, -- of the schema
	revision BIGINT  NOT NULL  -- counts the changes of users and keys
);

INSERT INTO gateway_state (one, version, revision) VALUES (1, 0, 0);

CREATE TABLE gateway_users (
	id           BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name         TEXT    NOT NULL UNIQUE,
	display_name TEXT    NOT NULL,
	role         INTEGER NOT NULL,
	disabled     BOOLEAN NOT NULL,
	password     TEXT    NOT NULL, -- its hash
	created      BIGINT  NOT NULL,
	last_login   BIGINT  NOT NULL
);

CREATE TABLE gateway_sessions (
	id      BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id BIGINT  NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	digest  BYTEA   NOT NULL UNIQUE CHECK (length(digest) = 32),
	created BIGINT  NOT NULL,
	expires BIGINT  NOT NULL,
	address TEXT    NOT NULL,
	agent   TEXT    NOT NULL
);

CREATE INDEX gateway_sessions_user ON gateway_sessions (user_id);
CREATE INDEX gateway_sessions_expires ON gateway_sessions (expires);

CREATE TABLE gateway_keys (
	id       BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id  BIGINT  NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	name     TEXT    NOT NULL,
	folded   TEXT    NOT NULL, -- the name without letter case, for searches
	hint     TEXT    NOT NULL,
	digest   BYTEA   NOT NULL UNIQUE CHECK (length(digest) = 32),
	models   TEXT    NOT NULL, -- JSON array of patterns; empty for all
	disabled BOOLEAN NOT NULL,
	created  BIGINT  NOT NULL,
	expires  BIGINT  NOT NULL
);

CREATE INDEX gateway_keys_user ON gateway_keys (user_id);
