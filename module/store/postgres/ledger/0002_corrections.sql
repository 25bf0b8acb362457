-- Later prices of calls. The last one of a call counts, in place of that of the call.
CREATE TABLE gateway_ledger_corrections (
	id       BIGINT NOT NULL, -- of the record
	call     BIGINT NOT NULL,
	number   BIGINT NOT NULL, -- from 1
	at       BIGINT NOT NULL,
	price    BIGINT NOT NULL,
	currency BIGINT NOT NULL,
	cost     BIGINT NOT NULL,
	PRIMARY KEY (id, call, number)
);
