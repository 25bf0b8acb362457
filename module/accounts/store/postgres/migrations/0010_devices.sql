-- Programs that act for a person who has confirmed a code.
CREATE TABLE gateway_devices (
	digest   BYTEA   PRIMARY KEY, -- of the device code
	code     BYTEA   UNIQUE, -- the digest of what the person types; null once it is answered
	agent    TEXT    NOT NULL,
	address  TEXT    NOT NULL,
	created  BIGINT NOT NULL,
	expires  BIGINT NOT NULL,
	polled   BIGINT NOT NULL,
	denied   BOOLEAN NOT NULL,
	key_id   BIGINT UNIQUE REFERENCES gateway_keys (id) ON DELETE CASCADE, -- null until the code is confirmed
	refresh  BYTEA, -- the digest of the refresh token
	replaced BYTEA, -- that of the one before
	salt     BYTEA, -- the tokens derive from it and from the token before
	rotated  BIGINT NOT NULL
);

CREATE INDEX gateway_devices_expires ON gateway_devices (expires);
