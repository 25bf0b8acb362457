-- readAt returns the time at which a budget was last read from the ledger, nil if it is not on the server.
local function readAt(key)
	local times = redis.call('HMGET', key, 'read', 'restored')
	return tonumber(times[1] or times[2] or nil)
end

-- isKnown reports whether a budget was read from the ledger since a gateway applies it, so that no request of
-- that gateway is missing.
local function isKnown(key, since)
	local at = readAt(key)
	return at ~= nil and at >= since
end

