-- Sums over all exchanges: 4 hour 5 day 6 month. Queries by time alone read these rows:
-- a year has 365 of them by day, but the other rows are as many for each combination of
-- names.
INSERT INTO gateway_usage
	SELECT span + 3, at, 0, 0, 0, 0, 0, 0, 0, currency,
		SUM(requests), SUM(calls), SUM(streams), SUM(estimated), SUM(unpriced),
		SUM(fresh), SUM(cache_read), SUM(cache_write), SUM(cache_write_long), SUM(answer), SUM(reasoning), SUM(searches),
		SUM(cost), SUM(held), SUM(duration), SUM(ttfb), SUM(ttfb_n)
	FROM gateway_usage GROUP BY span, at, currency;
