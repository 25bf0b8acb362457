-- All levels of gateway_usage have their rows since levelled, a time; 0 is all time. The gateway
-- writes the rows before it after the migration: of many records, that takes long.
ALTER TABLE gateway_ledger_state ADD COLUMN levelled INTEGER NOT NULL DEFAULT 0;

UPDATE gateway_ledger_state SET levelled = 4611686018427387904
	WHERE EXISTS (SELECT 1 FROM gateway_usage WHERE span <= 3) AND NOT EXISTS (SELECT 1 FROM gateway_usage WHERE span > 6);
