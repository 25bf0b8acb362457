-- Charges that become known after their exchanges. The record has what was reserved.
CREATE TABLE gateway_ledger_deferred (
	account TEXT NOT NULL,
	object  TEXT NOT NULL, -- the provider's id
	id      BIGINT NOT NULL, -- of the record
	record  BYTEA NOT NULL,
	due     BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	PRIMARY KEY (account, object)
);

-- Records whose charge was deferred, as they are since it is known. They replace those of pages.
CREATE TABLE gateway_ledger_settled (
	id     BIGINT NOT NULL PRIMARY KEY,
	record BYTEA NOT NULL
);
