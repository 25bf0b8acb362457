-- Sums of all exchanges together: 4 hour 5 day 6 month. Where usage is divided by time
-- alone, a year has 365 of them, and as many days for each combination of names.
INSERT INTO gateway_usage
	SELECT span + 3, at, 0, 0, 0, 0, 0, 0, 0, currency,
		SUM(requests), SUM(calls), SUM(streams), SUM(estimated), SUM(unpriced),
		SUM(fresh), SUM(cache_read), SUM(cache_write), SUM(cache_write_long), SUM(answer), SUM(reasoning), SUM(searches),
		SUM(cost), SUM(held), SUM(duration), SUM(ttfb), SUM(ttfb_n)
	FROM gateway_usage GROUP BY span, at, currency;
