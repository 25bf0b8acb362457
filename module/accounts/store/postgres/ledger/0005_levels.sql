-- Sums without some names: 7 hour 8 day 9 month without keys and users, and 10 hour 11 day 12
-- month without models and providers. Queries that need no other names read these rows. The
-- gateway writes those of earlier records after the migration, and begins anew with all of them.
DELETE FROM gateway_usage WHERE span > 6;
