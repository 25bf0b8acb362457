-- Programs that act for a person who has confirmed a code.
CREATE TABLE gateway_devices (
	digest   BLOB    PRIMARY KEY, -- of the device code
	code     BLOB    UNIQUE, -- the digest of what the person types; null once it is answered
	agent    TEXT    NOT NULL,
	address  TEXT    NOT NULL,
	created  INTEGER NOT NULL,
	expires  INTEGER NOT NULL,
	polled   INTEGER NOT NULL,
	denied   INTEGER NOT NULL,
	key_id   INTEGER UNIQUE REFERENCES gateway_keys (id) ON DELETE CASCADE, -- null until the code is confirmed
	refresh  BLOB, -- the digest of the refresh token
	replaced BLOB, -- that of the one before
	salt     BLOB, -- the tokens derive from it and from the token before
	rotated  INTEGER NOT NULL
) STRICT;

CREATE INDEX gateway_devices_expires ON gateway_devices (expires);
