-- Corrected costs of calls. The last correction of a call replaces the cost in its record.
CREATE TABLE gateway_ledger_corrections (
	id       BIGINT NOT NULL, -- of the record
	call     BIGINT NOT NULL,
	number   BIGINT NOT NULL, -- 1 for the first correction of the call
	at       BIGINT NOT NULL,
	price    BIGINT NOT NULL,
	currency BIGINT NOT NULL,
	cost     BIGINT NOT NULL,
	PRIMARY KEY (id, call, number)
);
