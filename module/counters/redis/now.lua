-- The beginning of all scripts that need the time. Sets now, in microseconds.
-- ARGV: the time, or 0 for the time of the server; then the arguments of the script.
local now = tonumber(ARGV[1])
if now == 0 then
	local time = redis.call('TIME')
	now = time[1] * 1000000 + time[2]
end

