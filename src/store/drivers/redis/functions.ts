/**
 * The Lua functions of the store in Redis. The server runs each atomically.
 *
 * @module
 */

/**
 * KEYS: version, expiries, kinds, records to check, records and indexes to remove from, records and indexes to set.
 * ARGV: milliseconds now, the prefix of channels, three counts, versions to check, ids to remove, then for each set its
 * id, kind, expiry, when Redis may drop it, type and value.
 */
export const COMMIT: string = `
local now, checks, removes, sets = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local k, a = 4, 6
for _ = 1, checks do
  local version, expires = string.match(redis.call('GETRANGE', KEYS[k], 0, 63), '^(%d+) (%S+) ')
  if version and expires ~= '-' and tonumber(expires) <= now then version = nil end
  if (version or '') ~= ARGV[a] then return 0 end
  k, a = k + 1, a + 1
end
-- By the clock, so that no version is reused after a restart that lost commits.
local time = redis.call('TIME')
local version = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if version <= last then version = last + 1 end
local written = string.format('%.0f', version)
redis.call('SET', KEYS[1], written)
-- The ids by kind: each kind has a channel, so that only instances that watch the kind get a message.
local changed = {}
local function add(id)
  local kind = string.match(id, '^[^\\1]*\\1') or ''
  changed[kind] = changed[kind] or {}
  table.insert(changed[kind], id)
end
for _ = 1, removes do
  redis.call('DEL', KEYS[k])
  redis.call('ZREM', KEYS[k + 1], ARGV[a])
  redis.call('ZREM', KEYS[2], ARGV[a])
  add(ARGV[a])
  k, a = k + 2, a + 1
end
for _ = 1, sets do
  local id, kind, expires, dropped = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local value = written .. ' ' .. expires .. ' ' .. ARGV[a + 4] .. ARGV[a + 5]
  if expires == '-' then
    redis.call('SET', KEYS[k], value)
    redis.call('ZREM', KEYS[2], id)
  else
    redis.call('SET', KEYS[k], value, 'PXAT', dropped)
    redis.call('ZADD', KEYS[2], expires, id)
  end
  redis.call('ZADD', KEYS[k + 1], 0, id)
  redis.call('ZADD', KEYS[3], 0, kind)
  add(id)
  k, a = k + 2, a + 6
end
for kind, ids in pairs(changed) do
  local message = #ids > 100 and '' or cjson.encode(ids)
  redis.call('PUBLISH', ARGV[2] .. kind, #message > 8000 and '' or message)
end
return 1
`;

/** KEYS: an index. ARGV: the prefix of record keys, milliseconds now, both ends, limit, whether reverse. */
export const LIST: string = `
local found, limit, low, high = {}, tonumber(ARGV[5]), ARGV[3], ARGV[4]
local count = math.min(limit, 1000)
while #found < 2 * limit do
  local ids = ARGV[6] == '1'
    and redis.call('ZRANGE', KEYS[1], high, low, 'BYLEX', 'REV', 'LIMIT', 0, count)
    or redis.call('ZRANGE', KEYS[1], low, high, 'BYLEX', 'LIMIT', 0, count)
  if #ids == 0 then break end
  local keys = {}
  for i, id in ipairs(ids) do keys[i] = ARGV[1] .. id end
  for i, value in ipairs(redis.call('MGET', unpack(keys))) do
    local expires = value and string.match(string.sub(value, 1, 64), '^%d+ (%S+) ')
    if value and (expires == '-' or tonumber(expires) > tonumber(ARGV[2])) and #found < 2 * limit then
      found[#found + 1] = ids[i]
      found[#found + 1] = value
    end
  end
  if ARGV[6] == '1' then high = '(' .. ids[#ids] else low = '(' .. ids[#ids] end
  -- Of records that have expired there may be many: the server does nothing else meanwhile.
  count = math.min(2 * count, 1000)
end
return found
`;

/** KEYS: expiries. ARGV: the prefixes of record keys and of indexes, milliseconds now, limit. */
export const SWEEP: string = `
local ids = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[3], 'BYSCORE', 'LIMIT', 0, ARGV[4])
for _, id in ipairs(ids) do
  redis.call('DEL', ARGV[1] .. id)
  redis.call('ZREM', ARGV[2] .. string.match(id, '^[^\\1]*\\1'), id)
  redis.call('ZREM', KEYS[1], id)
end
return #ids
`;
