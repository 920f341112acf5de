/**
 * Durations in a definition: ISO 8601 (`PT1M30S`) or shorthand (`1m30s`, `500ms`). Both are parsed everywhere; each
 * field chooses the one it is written in.
 */
const isoPattern =
  /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i;
const isoUnitsMs = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000];

const shorthandPart = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g;
const shorthandPattern = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/;
const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001, µs: 0.001, ns: 0.000001 };

/** A century: longer durations are mistakes, and their sums would leave the safe integer range. */
export const maxDurationMs = 100 * 366 * 86_400_000;

/** Parses to milliseconds; undefined where the text is not a duration. The empty text and `0` are zero. */
export function parseDurationMs(text: string): number | undefined {
  if (text === '' || text === '0') return 0;
  const ms = parseIsoMs(text) ?? parseShorthandMs(text);
  return ms === undefined || ms > maxDurationMs ? undefined : ms;
}

function parseIsoMs(text: string): number | undefined {
  const parts = isoPattern.exec(text)?.slice(1);
  if (!parts?.some(part => part !== undefined) || /T$/i.test(text)) return undefined;
  return parts.reduce((sum, part, at) => sum + Number(part ?? 0) * isoUnitsMs[at]!, 0);
}

function parseShorthandMs(text: string): number | undefined {
  if (!shorthandPattern.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(shorthandPart)) sum += Number(amount) * unitMs[unit!]!;
  return sum;
}

/** `1h2m3s500ms`; `0s` for zero. */
export function formatShorthand(ms: number): string {
  const { hours, minutes, seconds, rest } = splitUnits(ms);
  const text = formatPart(hours, 'h') + formatPart(minutes, 'm') + formatPart(seconds, 's') + formatPart(rest, 'ms');
  return text === '' ? '0s' : text;
}

/** `PT1H2M3.5S`; `PT0S` for zero. */
export function formatIsoDuration(ms: number): string {
  const { hours, minutes, seconds, rest } = splitUnits(ms);
  const text = formatPart(hours, 'H') + formatPart(minutes, 'M') + formatPart(seconds + rest / 1000, 'S');
  return `PT${text === '' ? '0S' : text}`;
}

const formatPart = (amount: number, unit: string) => (amount === 0 ? '' : `${amount}${unit}`);

function splitUnits(ms: number) {
  const whole = Math.floor(ms / 1000);
  return {
    hours: Math.floor(whole / 3600),
    minutes: Math.floor((whole % 3600) / 60),
    seconds: whole % 60,
    rest: Math.round(ms - whole * 1000),
  };
}
