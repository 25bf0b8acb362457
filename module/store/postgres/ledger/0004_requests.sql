-- No query looks for a request. Ids of requests are random, so that each record changed
-- another page of the index.
DROP INDEX gateway_ledger_request;
