import { entryBytes } from './key-value-limits.ts';
import { createScript, redisClock } from './redis-scripts.ts';

/** Pause between two searches of a full owner for expired entries, which read all of them. */
const sweepIntervalMs = 1000;

/**
 * Entries of one owner as a hash: fields `v<key>` hold `<expiry in ms, or 0>:<value>`, `b` the bytes of all, `s` the time
 * of the last search for expired ones, `p` is 1 where one may have no expiry. The hash expires with its last entry.
 * ARGV: key, and for writes the bounds of keys and bytes.
 */
const entries = `
local hash, key, metaFields = KEYS[1], ARGV[1], 3
local function bytesOf(name, value) return ${entryBytes} + 2 * (#name + #value) end
local function parse(stored)
  local at = string.find(stored, ':', 1, true)
  return string.sub(stored, at + 1), tonumber(string.sub(stored, 1, at - 1))
end
local function drop(name, value)
  redis.call('HDEL', hash, 'v' .. name)
  redis.call('HINCRBY', hash, 'b', -bytesOf(name, value))
  if redis.call('HLEN', hash) <= metaFields then redis.call('DEL', hash) end
end
local function find(name)
  local stored = redis.call('HGET', hash, 'v' .. name)
  if not stored then return nil end
  local value, expires = parse(stored)
  if expires == 0 or expires > now then return value, expires end
  drop(name, value)
  return nil
end`;

const writes = `
local maxKeys, maxBytes = tonumber(ARGV[2]), tonumber(ARGV[3])
local function fits(before, bytes)
  local count = math.max(0, redis.call('HLEN', hash) - metaFields)
  local used = tonumber(redis.call('HGET', hash, 'b') or 0)
  local added = bytes - (before and bytesOf(key, before) or 0)
  return count + (before and 0 or 1) <= maxKeys and used + added <= maxBytes
end
local function sweep()
  if now - tonumber(redis.call('HGET', hash, 's') or 0) < ${sweepIntervalMs} then return end
  redis.call('HSET', hash, 's', now)
  local all = redis.call('HGETALL', hash)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 1) == 'v' then
      local value, expires = parse(all[i + 1])
      if expires > 0 and expires <= now then drop(string.sub(all[i], 2), value) end
    end
  end
end
local function write(before, value, expires)
  local bytes = bytesOf(key, value)
  if not fits(before, bytes) then sweep() end
  if not fits(before, bytes) then return false end
  for _, name in ipairs({ 'b', 's', 'p' }) do redis.call('HSETNX', hash, name, 0) end
  redis.call('HSET', hash, 'v' .. key, string.format('%.0f', expires) .. ':' .. value)
  redis.call('HINCRBY', hash, 'b', bytes - (before and bytesOf(key, before) or 0))
  if expires == 0 then
    redis.call('HSET', hash, 'p', 1)
    redis.call('PERSIST', hash)
  elseif redis.call('HGET', hash, 'p') == '0' then
    local rest = redis.call('PTTL', hash)
    if rest < 0 or now + rest < expires then redis.call('PEXPIREAT', hash, string.format('%.0f', expires)) end
  end
  return true
end`;

export const readEntryScript = createScript(redisClock, entries, 'return { (find(key)) }');

export const readEntryTtlScript = createScript(
  redisClock,
  entries,
  `
local value, expires = find(key)
if not value then return { -2 } end
if expires == 0 then return { -1 } end
return { expires - now }`,
);

export const removeEntryScript = createScript(
  redisClock,
  entries,
  `
local value = find(key)
if not value then return { 0 } end
drop(key, value)
return { 1 }`,
);

/** ARGV beside the bounds: value, milliseconds until it expires or 0, `1` for a new key only. -1: the owner is full. */
export const writeEntryScript = createScript(
  redisClock,
  entries,
  writes,
  `
local value, ttl = ARGV[4], tonumber(ARGV[5])
local before = find(key)
if before and ARGV[6] == '1' then return { 0 } end
if write(before, value, ttl == 0 and 0 or now + ttl) then return { 1 } end
return { -1 }`,
);

/** Adds one to an integer, exact to 64 bits; its expiry stays. Nothing where it is none: an error would open the circuit. */
export const incrementEntryScript = createScript(
  redisClock,
  entries,
  writes,
  `
local before, expires = find(key)
redis.call('HSET', hash, 't', before or '0')
local reply = redis.pcall('HINCRBY', hash, 't', 1)
local value = redis.call('HGET', hash, 't')
redis.call('HDEL', hash, 't')
if type(reply) == 'table' then return {} end
if write(before, value, expires or 0) then return { value } end
return { -1 }`,
);
