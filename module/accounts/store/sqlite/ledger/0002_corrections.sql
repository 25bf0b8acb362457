-- Corrected costs of calls. The last correction of a call replaces the cost in its record.
CREATE TABLE gateway_ledger_corrections (
	id       INTEGER NOT NULL, -- of the record
	call     INTEGER NOT NULL,
	number   INTEGER NOT NULL, -- 1 for the first correction of the call
	at       INTEGER NOT NULL,
	price    INTEGER NOT NULL,
	currency INTEGER NOT NULL,
	cost     INTEGER NOT NULL,
	PRIMARY KEY (id, call, number)
) STRICT, WITHOUT ROWID;
