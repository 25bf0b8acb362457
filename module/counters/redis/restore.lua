-- Fills a budget with the amounts of the ledger, unless another gateway has done that.
-- KEYS: the budget. ARGV: its lifetime in milliseconds; the time in microseconds at which
-- the ledger was read; then slots and amounts.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'restored', ARGV[2])
for i = 3, #ARGV, 2 do
	redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
