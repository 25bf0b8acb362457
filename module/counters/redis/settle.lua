-- Replaces the reserved amounts of a request by the used amounts, once.
--
-- KEYS: the reservation, then a window for each change. ARGV: the time; the microseconds
-- since the end of the request; 1 if the script may have run before for this request, else
-- 0; then for each window: "tokens" or "money", the index of its limit, the reserved amount,
-- the used amount, and the length of its slots. "amended" is money of a request that has been settled:
-- it has the microseconds between the admission and the amendment in place of the reserved amount, and
-- the change of the cost in place of the used one; the end of the request is the amendment.
--
-- Deletes the reservation. If it does not exist, and the script may have run before, nothing
-- changes. If it does not exist otherwise, the request was never admitted here, or the server
-- has lost the reservation, and the used amounts are added. Money is not added to a budget that was
-- restored after the end of the request, because the ledger contained it already.
local ended, again = now - tonumber(ARGV[2]), ARGV[3] == '1'

local held, fields = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do held[fields[i]] = fields[i + 1] end
if held.over or again and #fields == 0 then return 0 end
redis.call('DEL', KEYS[1])
if #fields == 0 then -- the call of admit.lua may arrive later
	redis.call('HSET', KEYS[1], 'over', 1)
	redis.call('PEXPIRE', KEYS[1], 60000)
end

local function slotOf(time, length)
	return length > 0 and string.format('%.0f', math.floor(time / length)) or '0'
end

-- add changes a count, which never becomes negative.
local function add(key, slot, change)
	change = math.max(change, -tonumber(redis.call('HGET', key, slot) or 0))
	if change ~= 0 then redis.call('HINCRBY', key, slot, string.format('%.0f', change)) end
end

-- release ends the reservation of an amount, if the slot still counts.
local function release(key, slot, reserved)
	local held = tonumber(redis.call('HGET', key, 'held' .. slot) or 0)
	if held > reserved then
		redis.call('HINCRBY', key, 'held' .. slot, string.format('%.0f', -reserved))
	elseif held > 0 then
		redis.call('HDEL', key, 'held' .. slot)
	end
end

-- Tokens that were not reserved count from now on.
local function tokens(key, slot, reserved, used, length)
	if slot then release(key, slot, reserved) end
	local change = used - (slot and reserved or 0)
	if change > 0 then slot = slotOf(now, length) end
	if change > 0 or redis.call('EXISTS', key) == 1 then
		add(key, slot, change)
		redis.call('PEXPIRE', key, math.ceil(62 * length / 1000))
	end
end

-- Money counts in the slot of the admission.
local function money(key, slot, reserved, used, length, restored)
	local since = redis.call('HGET', key, 'restored')
	if not since then return end
	if slot and since == restored then
		release(key, slot, reserved)
		add(key, slot, used - reserved)
	elseif ended >= readAt(key) then
		add(key, slot or slotOf(ended, length), used)
	end
end

-- A change of the cost counts in the slot of the admission, in which the ledger has the costs of whole
-- hours.
local function amend(key, admitted, change, length)
	local since = readAt(key) or ended + 1
	if since > ended then return end -- the ledger contained the change already
	if admitted < since then admitted = math.min(since, (math.floor(admitted / 3.6e9) + 1) * 3.6e9) end
	add(key, slotOf(admitted, length), change)
end

for i = 2, #KEYS do
	local a = 3 + (i - 2) * 5
	local kind, limit = ARGV[a + 1], ARGV[a + 2]
	local reserved, used, length = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
	if kind == 'tokens' then
		tokens(KEYS[i], held['tokens' .. limit], reserved, used, length)
	elseif kind == 'amended' then
		amend(KEYS[i], ended - reserved, used, length)
	else
		money(KEYS[i], held['money' .. limit], reserved, used, length, held['restored' .. limit])
	end
end
return 1
