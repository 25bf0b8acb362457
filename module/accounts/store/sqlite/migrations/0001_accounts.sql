-- Times are Unix milliseconds, 0 for never. Ids are never given twice.

CREATE TABLE gateway_state (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	version  INTEGER NOT NULL, -- of the schema
	revision INTEGER NOT NULL  -- counts the changes of users and keys
) STRICT;

INSERT INTO gateway_state (one, version, revision) VALUES (1, 0, 0);

CREATE TABLE gateway_users (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	name         TEXT    NOT NULL UNIQUE,
	display_name TEXT    NOT NULL,
	role         INTEGER NOT NULL,
	disabled     INTEGER NOT NULL,
	password     TEXT    NOT NULL, -- its hash
	created      INTEGER NOT NULL,
	last_login   INTEGER NOT NULL
) STRICT;

CREATE TABLE gateway_sessions (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id INTEGER NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	digest  BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	address TEXT    NOT NULL,
	agent   TEXT    NOT NULL
) STRICT;

CREATE INDEX gateway_sessions_user ON gateway_sessions (user_id);
CREATE INDEX gateway_sessions_expires ON gateway_sessions (expires);

CREATE TABLE gateway_keys (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id  INTEGER NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	name     TEXT    NOT NULL,
	folded   TEXT    NOT NULL, -- the name without letter case, for searches
	hint     TEXT    NOT NULL,
	digest   BLOB    NOT NULL UNIQUE CHECK (length(digest) = 32),
	models   TEXT    NOT NULL, -- JSON array of patterns; empty for all
	disabled INTEGER NOT NULL,
	created  INTEGER NOT NULL,
	expires  INTEGER NOT NULL
) STRICT;

CREATE INDEX gateway_keys_user ON gateway_keys (user_id);
