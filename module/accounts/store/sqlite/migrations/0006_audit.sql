-- Who has changed what. Rows are added, and deleted when their time is over.
CREATE TABLE gateway_audit (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL,
	actor   TEXT    NOT NULL, -- the kind, and a name after a slash
	role    INTEGER NOT NULL, -- of a user, 0 for others
	address TEXT    NOT NULL,
	request TEXT    NOT NULL,
	action  TEXT    NOT NULL,
	object  TEXT    NOT NULL,
	changes TEXT    NOT NULL, -- JSON array of fields with their values before and after
	failed  INTEGER NOT NULL
) STRICT;

CREATE INDEX gateway_audit_at ON gateway_audit (at);
CREATE INDEX gateway_audit_object ON gateway_audit (object);

CREATE TRIGGER gateway_audit_fixed BEFORE UPDATE ON gateway_audit
BEGIN SELECT RAISE(ABORT, 'rows of gateway_audit cannot be changed'); END;

-- The configuration that an actor has loaded last.
CREATE TABLE gateway_audit_loads (
	actor TEXT    PRIMARY KEY,
	at    INTEGER NOT NULL,
	parts TEXT    NOT NULL -- JSON object of digests by names
) STRICT;
