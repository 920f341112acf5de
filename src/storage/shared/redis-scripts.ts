import { createHash } from 'node:crypto';
import { maxClockSkewMs, maxSlidingRuns, slidingGranularityMs, type Window } from './shared.ts';

/**
 * Counters of `shared.ts` as Lua scripts: each decision is atomic for all machines. They use the clock of Redis, so
 * machines whose clocks differ agree when a window ends. Replies contain ages rather than times, which the caller
 * subtracts from its own clock.
 */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export const createScript = (...parts: string[]): Script => {
  const text = parts.join('\n');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
};

/** Encodes infinity as -1: arguments are text, and Lua parses no `Infinity`. */
const toBound = (value: number): string => (value === Number.POSITIVE_INFINITY ? '-1' : String(value));

/** Time of Redis as `now`, in milliseconds. */
export const redisClock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function bound(text)
  local value = tonumber(text)
  if value < 0 then return math.huge end
  return value
end`;

/** Reads the open window into \`start\` and \`count\`; \`ended\` is set if there was none. ARGV: period, opens. */
const readWindow = `
local period, opens = bound(ARGV[1]), ARGV[2]
local opening = now
if opens == 'clock' and period < math.huge then opening = now - now % period end
local state = redis.call('HMGET', KEYS[1], 's', 'c')
local start, count = tonumber(state[1]), tonumber(state[2])
local ended = not start or start > now + ${maxClockSkewMs}
if not ended then
  if opens == 'clock' then ended = start < opening else ended = now >= start + period end
end
if ended then start, count = opening, 0 end
local function writeWindow()
  redis.call('HSET', KEYS[1], 's', start, 'c', count)
  if period < math.huge then
    redis.call('PEXPIREAT', KEYS[1], math.ceil(start + period))
  else
    redis.call('PERSIST', KEYS[1])
  end
end`;

/** ARGV: period, opens, limit, cost, countsRefused. Returns: allowed, used, age of the window. */
export const takeScript = createScript(
  redisClock,
  readWindow,
  `
local limit, cost = bound(ARGV[3]), tonumber(ARGV[4])
local allowed = cost < 0 or (cost == 0 and count < limit) or (cost > 0 and count + cost <= limit)
if cost ~= 0 and (allowed or ARGV[5] == '1') and not (ended and cost < 0) then
  count = math.max(0, count + cost)
  if opens == 'every' then start = now end
  writeWindow()
end
return { allowed and 1 or 0, count, math.floor(now - start) }`,
);

/**
 * Replays hits counted locally. ARGV: period, opens, pending, used locally, age locally. If Redis lost the window it is
 * reopened as it was locally; if Redis lost a part, the local count is the minimum.
 */
export const replayFixedScript = createScript(
  redisClock,
  readWindow,
  `
local owed, used, age = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if ended then
  if age >= period then return 0 end
  start, count = now - age, used
else
  count = math.max(count + owed, used)
end
writeWindow()
return 1`,
);

/**
 * A sliding window is packed as times and counts of its runs, oldest first, and the start of the newest run;
 * `sliding-windows.ts` explains the runs. Drops runs older than the period and leaves their sum in \`total\`. ARGV:
 * period.
 */
const readLog = `
local period = bound(ARGV[1])
local moments, counts, began, total = {}, {}, 0, 0
local packed = redis.call('GET', KEYS[1])
if packed then
  local old = cmsgpack.unpack(packed)
  began = old[3]
  for index, moment in ipairs(old[1]) do
    if moment > now - period and moment <= now + ${maxClockSkewMs} then
      moments[#moments + 1] = moment
      counts[#counts + 1] = old[2][index]
      total = total + old[2][index]
    end
  end
end
local function fold()
  while #moments > ${maxSlidingRuns} do
    counts[2] = counts[2] + counts[1]
    table.remove(moments, 1)
    table.remove(counts, 1)
  end
end
local function writeLog()
  fold()
  redis.call('SET', KEYS[1], cmsgpack.pack({ moments, counts, began }))
  if period < math.huge then redis.call('PEXPIREAT', KEYS[1], math.ceil(moments[#moments] + period)) end
end`;

/** ARGV: period, limit, cost, countsRefused, granularity. Returns: allowed, used, age of the oldest hit. */
export const slideScript = createScript(
  redisClock,
  readLog,
  `
local limit, cost, grain = bound(ARGV[2]), tonumber(ARGV[3]), bound(ARGV[5])
local allowed = (cost == 0 and total < limit) or (cost > 0 and total + cost <= limit)
if cost > 0 and (allowed or ARGV[4] == '1') then
  local newest = #moments
  local moment = math.max(now, moments[newest] or now)
  if newest > 0 and (moment == moments[newest] or moment - began < grain) then
    moments[newest] = moment
    counts[newest] = counts[newest] + cost
  else
    moments[newest + 1], counts[newest + 1], began = moment, cost, moment
  end
  total = total + cost
  writeLog()
end
return { allowed and 1 or 0, total, math.floor(now - (moments[1] or now)) }`,
);

/** Replays hits counted locally. ARGV: period, then age and count in turn. */
export const replaySlidingScript = createScript(
  redisClock,
  readLog,
  `
local all = {}
for index, moment in ipairs(moments) do all[#all + 1] = { moment, counts[index] } end
for index = 2, #ARGV, 2 do
  local age = tonumber(ARGV[index])
  if age < period then all[#all + 1] = { now - age, tonumber(ARGV[index + 1]) } end
end
if #all == 0 then return 0 end
table.sort(all, function(one, other) return one[1] < other[1] end)
for index, run in ipairs(all) do moments[index], counts[index] = run[1], run[2] end
began = moments[#moments]
writeLog()
return 1`,
);

const toWindowArgs = ({ periodMs, opens = 'first' }: Window): string[] => [toBound(periodMs), opens];
const toCountsRefusedArg = ({ countsRefused = false }: Window): string => (countsRefused ? '1' : '0');

export const toTakeArgs = (window: Window, cost: number): string[] => [
  ...toWindowArgs(window),
  toBound(window.limit),
  String(cost),
  toCountsRefusedArg(window),
];

export const toReplayFixedArgs = (window: Window, pending: number, used: number, ageMs: number): string[] => [
  ...toWindowArgs(window),
  String(pending),
  String(used),
  String(ageMs),
];

export const toSlideArgs = (window: Window, cost: number): string[] => [
  toBound(window.periodMs),
  toBound(window.limit),
  String(cost),
  toCountsRefusedArg(window),
  toBound(slidingGranularityMs(window)),
];

/** `hits` are time and count in turn, by the caller's clock. */
export const toReplaySlidingArgs = (window: Window, hits: readonly number[], nowMs: number): string[] => [
  toBound(window.periodMs),
  ...hits.map((value, index) => String(index % 2 === 0 ? Math.max(0, nowMs - value) : value)),
];
