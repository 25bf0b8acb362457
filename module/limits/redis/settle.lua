-- Replaces what a reservation holds by what was used, once.
-- KEYS: the reservation, then a window for each change. ARGV: time in microseconds, 0 for
-- that of the server; then for each window: slot, reserved, used, and the length of the
-- slots if what is used beyond the reserved counts in the current one, else 0.
local now = tonumber(ARGV[1])
if now == 0 then
	local time = redis.call('TIME')
	now = time[1] * 1000000 + time[2]
end
local state = redis.call('GET', KEYS[1])
if state == 's' then return 0 end
redis.call('SET', KEYS[1], 's', 'PX', 60000)
for i = 2, #KEYS do
	local a = 1 + (i - 2) * 4
	local slot, length = ARGV[a + 1], tonumber(ARGV[a + 4])
	local reserved = state and tonumber(ARGV[a + 2]) or 0 -- a server that lost its data lost that as well
	local change = tonumber(ARGV[a + 3]) - reserved
	if change > 0 and length > 0 then slot = string.format('%.0f', math.floor(now / length)) end
	if redis.call('EXISTS', KEYS[i]) == 1 or change > 0 and length > 0 then
		local count = tonumber(redis.call('HGET', KEYS[i], slot) or 0)
		change = math.max(change, -count)
		if change ~= 0 then redis.call('HINCRBY', KEYS[i], slot, string.format('%.0f', change)) end
		if length > 0 then redis.call('PEXPIRE', KEYS[i], math.ceil(62 * length / 1000)) end
	end
end
return 1
