-- Begins all scripts that need the time: now, in microseconds.
-- ARGV: the time, 0 for that of the server; then what the script needs.
local now = tonumber(ARGV[1])
if now == 0 then
	local time = redis.call('TIME')
	now = time[1] * 1000000 + time[2]
end

