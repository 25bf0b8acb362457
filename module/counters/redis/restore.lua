-- Fills a budget with the amounts of the ledger, and with what running requests have reserved, which the
-- ledger lacks. More that is counted already stays. Does nothing if the budget was read meanwhile.
-- KEYS: the budget. ARGV: its lifetime in milliseconds; the time in microseconds at which the ledger was
-- read; the time since which the gateway applies the budget; the first slot that counts; then slots and
-- amounts.
local key, first = KEYS[1], tonumber(ARGV[4])
if isKnown(key, tonumber(ARGV[3])) then return 0 end
redis.call('HSETNX', key, 'restored', ARGV[2])
redis.call('HSET', key, 'read', ARGV[2])

local counted, known, slots, amounts = 0, 0, {}, {}
local function add(slot, n)
	if tonumber(slot) < first then return end
	known = known + n
	amounts[slot] = (amounts[slot] or 0) + n
end
for i = 5, #ARGV, 2 do add(ARGV[i], tonumber(ARGV[i + 1])) end
local all = redis.call('HGETALL', key)
for i = 1, #all, 2 do
	local held = string.match(all[i], '^held(%d+)$')
	if held then add(held, tonumber(all[i + 1])) end
	if tonumber(all[i]) then
		slots[#slots + 1] = all[i]
		if tonumber(all[i]) >= first then counted = counted + tonumber(all[i + 1]) end
	end
end
if known > counted then
	for _, slot in ipairs(slots) do redis.call('HDEL', key, slot) end
	for slot, n in pairs(amounts) do redis.call('HSET', key, slot, string.format('%.0f', n)) end
end
redis.call('PEXPIRE', key, ARGV[1])
return 1
