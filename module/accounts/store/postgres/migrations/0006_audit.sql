-- Who has changed what. Rows are added, and deleted when their time is over.
CREATE TABLE gateway_audit (
	id      BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at      BIGINT  NOT NULL,
	actor   TEXT    NOT NULL, -- the kind, and a name after a slash
	role    INTEGER NOT NULL, -- of a user, 0 for others
	address TEXT    NOT NULL,
	request TEXT    NOT NULL,
	action  TEXT    NOT NULL,
	object  TEXT    NOT NULL,
	changes TEXT    NOT NULL, -- JSON array of fields with their values before and after
	failed  BOOLEAN NOT NULL
);

CREATE INDEX gateway_audit_at ON gateway_audit (at);
CREATE INDEX gateway_audit_object ON gateway_audit (object);

CREATE OR REPLACE FUNCTION gateway_audit_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'rows of gateway_audit cannot be changed'; END $$;
CREATE TRIGGER gateway_audit_fixed BEFORE UPDATE ON gateway_audit FOR EACH ROW EXECUTE FUNCTION gateway_audit_fixed();

-- The configuration that an actor has loaded last.
CREATE TABLE gateway_audit_loads (
	actor TEXT   PRIMARY KEY,
	at    BIGINT NOT NULL,
	parts TEXT   NOT NULL -- JSON object of digests by names
);
