-- Charges that become known after their exchanges. The record has what was reserved.
CREATE TABLE gateway_ledger_deferred (
	account TEXT NOT NULL,
	object  TEXT NOT NULL, -- the provider's id
	id      INTEGER NOT NULL, -- of the record
	record  BLOB NOT NULL,
	due     INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	PRIMARY KEY (account, object)
) STRICT, WITHOUT ROWID;

-- Records whose charge was deferred, as they are since it is known. They replace those of pages.
CREATE TABLE gateway_ledger_settled (
	id     INTEGER NOT NULL PRIMARY KEY,
	record BLOB NOT NULL
) STRICT, WITHOUT ROWID;
