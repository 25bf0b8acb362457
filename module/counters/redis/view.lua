-- Returns the use of limits, and changes nothing.
--
-- KEYS and ARGV are those of admit.lua. Returns -2 and the time, as admit.lua; else 1, and for
-- each limit: the requests, and the time until none counts; the tokens, the reserved ones
-- among them, and the time until none counts; the running requests; the money, -1 if the
-- budget is unknown, the reserved part of it, and the time until none counts.
local EARLIER = 60
local FIRST, PER = 6, 11
local sent = math.min(now, tonumber(ARGV[6]))
local count = (#ARGV - FIRST) / PER

local function int(n) return string.format('%.0f', n) end

-- window returns the sum of the counts, the reserved part of it, and the time until none
-- counts, which is 0 for a period of the calendar.
local function window(key, length)
	local slot = length > 0 and math.floor(now / length) or 0
	local used, held, last = 0, 0, nil
	local all = redis.call('HGETALL', key)
	for i = 1, #all, 2 do
		local reserved = string.match(all[i], '^held(%d+)$')
		local at, n = tonumber(reserved or all[i]), tonumber(all[i + 1])
		if at and at >= slot - EARLIER then
			if reserved then
				held = held + n
			else
				used = used + n
				if n > 0 then last = math.max(last or at, at) end
			end
		end
	end
	return used, held, length > 0 and last and (last + EARLIER + 1) * length - now or 0
end

for i = 1, count do
	local a = FIRST + (i - 1) * PER
	local begin, finish = tonumber(ARGV[a + 8]), tonumber(ARGV[a + 9])
	if finish > 0 and (now < begin or now >= finish) then return {-2, int(now)} end
end

local answer = {1}
for i = 1, count do
	local k, a = 1 + (i - 1) * 5, FIRST + (i - 1) * PER
	local requests, _, rreset = window(KEYS[k + 1], tonumber(ARGV[a + 2]))
	local tokens, held, treset = window(KEYS[k + 2], tonumber(ARGV[a + 4]))
	local running = redis.call('ZCOUNT', KEYS[k + 3], '(' .. int(now), '+inf')
	local money, reserved, breset = -1, 0, 0
	if isKnown(KEYS[k + 4], sent - tonumber(ARGV[a + 11])) then
		money, reserved, breset = window(KEYS[k + 4], tonumber(ARGV[a + 7]))
	end
	for _, n in ipairs({requests, rreset, tokens, held, treset, running, money, reserved, breset}) do
		answer[#answer + 1] = int(n)
	end
end
return answer
