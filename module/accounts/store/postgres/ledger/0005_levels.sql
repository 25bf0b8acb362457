-- Sums without some names: 7 hour 8 day 9 month without keys and users, and 10 hour 11 day 12
-- month without models and providers. Queries that need no other names read these rows.
INSERT INTO gateway_usage
	SELECT span + 6, at, 0, 0, limit_name, model, provider, upstream, outcome, currency,
		SUM(requests), SUM(calls), SUM(streams), SUM(estimated), SUM(unpriced),
		SUM(fresh), SUM(cache_read), SUM(cache_write), SUM(cache_write_long), SUM(answer), SUM(reasoning), SUM(searches),
		SUM(cost), SUM(held), SUM(duration), SUM(ttfb), SUM(ttfb_n)
	FROM gateway_usage WHERE span <= 3 GROUP BY span, at, limit_name, model, provider, upstream, outcome, currency;

INSERT INTO gateway_usage
	SELECT span + 9, at, api_key, holder, limit_name, 0, 0, 0, outcome, currency,
		SUM(requests), SUM(calls), SUM(streams), SUM(estimated), SUM(unpriced),
		SUM(fresh), SUM(cache_read), SUM(cache_write), SUM(cache_write_long), SUM(answer), SUM(reasoning), SUM(searches),
		SUM(cost), SUM(held), SUM(duration), SUM(ttfb), SUM(ttfb_n)
	FROM gateway_usage WHERE span <= 3 GROUP BY span, at, api_key, holder, limit_name, outcome, currency;
