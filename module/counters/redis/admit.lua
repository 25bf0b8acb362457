-- Decides about all limits of a request, and reserves its share of all limits, or of none.
--
-- KEYS: the reservation, then for each limit: requests, tokens, running, budget, level.
-- ARGV: the time; id; lease; tokens and money of the request; the latest time at which the gateway can have
-- sent the call; then for each limit: the rate of requests, the length of its slots; the rate of tokens, the
-- length of its slots; the concurrent requests; the budget, the length of its slots, which is 0 for a period
-- of the calendar; the beginning and the end of that period, both 0 for all time; 1 if the budget is soft; the
-- time for which the gateway had applied the budget when it sent the call. Times are in microseconds, money is
-- in nanos.
--
-- Returns
--   1 or 0 for admitted or refused, the refusal, the time, and the counts of each limit;
--   -1, the index of a limit whose budget is not on the server, or was read before the
--   gateway applied it, and the time;
--   -2 and the time, if it is not in the period of the calendar of a budget;
--   -3 if the reservation was settled before this script ran.
local EARLIER = 60
local IDLE = 34560000000 -- lifetime of unused budgets and levels in milliseconds: longer than any period
local LIFETIME = 86400000 -- lifetime of a reservation in milliseconds
local id, lease = ARGV[2], tonumber(ARGV[3])
local tokens, money = tonumber(ARGV[4]), tonumber(ARGV[5])
local FIRST, PER = 6, 11
local sent = math.min(now, tonumber(ARGV[6]))
local count = (#ARGV - FIRST) / PER

local function int(n) return string.format('%.0f', n) end

-- window returns the current slot, the sum of the counts, the sorted slots with a count, and
-- the counts by slot.
local function window(key, length)
	if length == 0 then
		return 0, tonumber(redis.call('HGET', key, '0') or 0), {0}, {}
	end
	local slot, used, slots, counts = math.floor(now / length), 0, {}, {}
	local all = redis.call('HGETALL', key)
	for i = 1, #all, 2 do
		local at = tonumber(all[i])
		if at and at >= slot - EARLIER then
			counts[at] = tonumber(all[i + 1])
			used = used + counts[at]
			slots[#slots + 1] = at
		elseif at then
			redis.call('HDEL', key, all[i], 'held' .. all[i])
		end
	end
	table.sort(slots)
	return slot, used, slots, counts
end

-- over returns the time until a slot no longer counts.
local function over(slot, length) return (slot + EARLIER + 1) * length - now end

-- refuse keeps the refusal with the longest wait. A wait of 0 is not a refusal.
local refused = {0, 0, 0, 0} -- limit, rule, wait, too large
local function refuse(limit, rule, duration, large)
	if large > refused[4] or large == refused[4] and duration > refused[3] then
		refused = {limit, rule, duration, large}
	end
end

-- wait returns the time until there is room for n.
local function wait(n, most, used, slots, counts, length)
	local excess = used + n - most
	for _, slot in ipairs(slots) do
		if excess <= 0 then break end
		excess = excess - (counts[slot] or 0)
		if excess <= 0 then return over(slot, length) end
	end
	return 0
end

-- check refuses the request if there is no room for n. It returns the current slot, the sum
-- of the counts, and the last slot with a count.
local function check(limit, rule, key, n, most, length)
	local slot, used, slots, counts = window(key, length)
	if n > most then
		refuse(limit, rule, 1, 1)
	else
		refuse(limit, rule, wait(n, most, used, slots, counts, length), 0)
	end
	return slot, used, slots[#slots]
end

if redis.call('EXISTS', KEYS[1]) == 1 then return {-3} end
for i = 1, count do
	local a = FIRST + (i - 1) * PER
	local begin, finish = tonumber(ARGV[a + 8]), tonumber(ARGV[a + 9])
	if finish > 0 and (now < begin or now >= finish) then return {-2, int(now)} end
end
for i = 1, count do
	local a = FIRST + (i - 1) * PER
	if tonumber(ARGV[a + 6]) >= 0 and not isKnown(KEYS[1 + (i - 1) * 5 + 4], sent - tonumber(ARGV[a + 11])) then
		return {-1, i, int(now)}
	end
end

local FOREVER = 9007199254740991
local shares = {}
for i = 1, count do
	local k, a = 1 + (i - 1) * 5, FIRST + (i - 1) * PER
	local s = {}
	local most = tonumber(ARGV[a + 1])
	if most > 0 then
		s.rslot, s.rused, s.rlast = check(i, 1, KEYS[k + 1], 1, most, tonumber(ARGV[a + 2]))
	end
	most = tonumber(ARGV[a + 3])
	if most > 0 then
		s.tslot, s.tused, s.tlast = check(i, 2, KEYS[k + 2], tokens, most, tonumber(ARGV[a + 4]))
	end
	most = tonumber(ARGV[a + 5])
	if most > 0 then
		redis.call('ZREMRANGEBYSCORE', KEYS[k + 3], '-inf', int(now))
		if redis.call('ZCARD', KEYS[k + 3]) >= most then refuse(i, 3, 1000000, 0) end
	end
	most = tonumber(ARGV[a + 6])
	if most >= 0 then
		local length, finish, soft = tonumber(ARGV[a + 7]), tonumber(ARGV[a + 9]), ARGV[a + 10] == '1'
		local slot, used, slots, counts = window(KEYS[k + 4], length)
		s.bslot, s.bused = slot, used
		if not soft and money > 0 then -- what is free needs no money, even beyond the budget
			if money > most then
				refuse(i, 4, 1, 1)
			elseif length > 0 then
				refuse(i, 4, wait(money, most, used, slots, counts, length), 0)
			elseif used + money > most then
				refuse(i, 4, finish > 0 and finish - now or FOREVER, 0)
			end
		end
		local reached = used
		if not soft and money <= most and used + money > most then reached = math.max(used, most) end
		local peak = tonumber(redis.call('HGET', KEYS[k + 4], 'peak') or 0)
		local peak_at = tonumber(redis.call('HGET', KEYS[k + 4], 'peak_at') or 0)
		if reached >= peak or peak_at < slot - EARLIER then
			peak = reached
			redis.call('HSET', KEYS[k + 4], 'peak', int(peak), 'peak_at', int(slot))
		end
		local level = 0
		for _, l in ipairs({50, 80, 100}) do
			if most > 0 and peak >= math.floor(most / 100) * l then level = l end
		end
		s.from, s.to = tonumber(redis.call('GET', KEYS[k + 5]) or -1), level
		if s.from ~= s.to then redis.call('SET', KEYS[k + 5], level) end
		redis.call('PEXPIRE', KEYS[k + 5], IDLE)
		if length == 0 and finish == 0 then redis.call('PEXPIRE', KEYS[k + 4], IDLE) end
	end
	shares[i] = s
end

local admitted = refused[1] == 0
-- add counts n in a slot. The running request has reserved held of it.
local function add(key, slot, n, held, length)
	redis.call('HINCRBY', key, int(slot), int(n))
	if held > 0 then redis.call('HINCRBY', key, 'held' .. int(slot), int(held)) end
	if length > 0 then redis.call('PEXPIRE', key, math.ceil((EARLIER + 2) * length / 1000)) end
end
-- remember stores a field of the reservation, for settle.lua.
local function remember(field, value)
	if redis.call('HSET', KEYS[1], field, value) == 1 then redis.call('PEXPIRE', KEYS[1], LIFETIME) end
end
local answer = {admitted and 1 or 0, refused[1], refused[2], int(refused[3]), refused[4], int(now)}
for i = 1, count do
	local k, a, s = 1 + (i - 1) * 5, FIRST + (i - 1) * PER, shares[i]
	if admitted then
		if s.rslot then
			add(KEYS[k + 1], s.rslot, 1, 0, tonumber(ARGV[a + 2]))
			s.rused, s.rlast = s.rused + 1, s.rslot
		end
		if s.tslot then
			add(KEYS[k + 2], s.tslot, tokens, tokens, tonumber(ARGV[a + 4]))
			remember('tokens' .. i, int(s.tslot))
			s.tused = s.tused + tokens
			if tokens > 0 then s.tlast = s.tslot end
		end
		if tonumber(ARGV[a + 5]) > 0 then
			redis.call('ZADD', KEYS[k + 3], int(now + lease), id)
			redis.call('PEXPIRE', KEYS[k + 3], math.ceil(lease / 1000) + 60000)
		end
		if s.bslot then
			add(KEYS[k + 4], s.bslot, money, money, tonumber(ARGV[a + 7]))
			remember('money' .. i, int(s.bslot))
			remember('restored' .. i, redis.call('HGET', KEYS[k + 4], 'restored'))
		end
	end
	local rreset = s.rused and s.rused > 0 and s.rlast and over(s.rlast, tonumber(ARGV[a + 2])) or 0
	local treset = s.tused and s.tused > 0 and s.tlast and over(s.tlast, tonumber(ARGV[a + 4])) or 0
	for _, n in ipairs({s.rused or 0, rreset, s.tused or 0, treset, s.bused or 0, s.from or 0, s.to or 0}) do
		answer[#answer + 1] = int(n)
	end
end
return answer
