-- Renews the lease of a running request, even if the server has lost it.
-- KEYS: the running requests of limits. ARGV: the time; id; lease in microseconds.
for _, key in ipairs(KEYS) do
	redis.call('ZADD', key, string.format('%.0f', now + tonumber(ARGV[3])), ARGV[2])
	redis.call('PEXPIRE', key, math.ceil(ARGV[3] / 1000) + 60000)
end
return 1
