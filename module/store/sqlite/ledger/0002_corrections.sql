-- Later prices of calls. The last one of a call counts, in place of that of the call.
CREATE TABLE gateway_ledger_corrections (
	id       INTEGER NOT NULL, -- of the record
	call     INTEGER NOT NULL,
	number   INTEGER NOT NULL, -- from 1
	at       INTEGER NOT NULL,
	price    INTEGER NOT NULL,
	currency INTEGER NOT NULL,
	cost     INTEGER NOT NULL,
	PRIMARY KEY (id, call, number)
) STRICT, WITHOUT ROWID;
