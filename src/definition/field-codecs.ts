import { z } from 'zod';
import { durationMs, isoOf, shorthandOf } from './duration.ts';
import type { Wire } from './facet.ts';

/** The ways in which the two forms write one value differently. */

type Path = Wire['path'];

/** The form holds the opposite: silence there means "on". */
export function inverted(path: Path): Wire {
  return { path, schema: z.boolean(), absent: true, read: value => !value, write: value => !value };
}

/** A map, written as a list of two-member objects sorted by key; of two with one key the later wins. */
export function pairs(path: Path, key: string, value: string, item: z.ZodType = z.string()): Wire {
  return {
    path,
    schema: z.array(z.looseObject({ [key]: z.string(), [value]: item.nullable().optional() })).nullable(),
    read: wire => Object.fromEntries(recordsOf(wire).map(pair => [String(pair[key]), pair[value] ?? emptyOf(item)])),
    write: map =>
      Object.entries(map as Record<string, unknown>)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([name, given]) => ({ [key]: name, [value]: given })),
  };
}

const emptyOf = (item: z.ZodType) => (item instanceof z.ZodArray ? [] : '');
const recordsOf = (wire: unknown) => (Array.isArray(wire) ? (wire as Record<string, unknown>[]) : []);

export const headerPairs = (path: Path): Wire => pairs(path, 'name', 'value');

/** A length of time as text; the model counts in seconds. */
export function secondsText(path: Path, notation: 'iso' | 'shorthand' = 'shorthand'): Wire {
  return duration(path, 1000, notation);
}

/** The same for fields that know whole seconds only. */
export function wholeSecondsText(path: Path): Wire {
  const exact = duration(path, 1000, 'shorthand');
  return { ...exact, read: wire => Math.floor(Number(exact.read?.(wire))) };
}

/** Whole seconds as a number, of which fewer than none are none. */
export function secondsNumber(path: Path): Wire {
  return { path, read: wire => Math.max(0, Number(wire)) };
}

/** A length of time as text; the model counts in milliseconds. */
export function millisecondsText(path: Path): Wire {
  return duration(path, 1, 'shorthand');
}

const unquoted = ({ input }: { input?: unknown }) =>
  input === undefined ? undefined : 'must be a text in quotes, a duration such as 1m30s';
export const durationText = z
  .string({ error: unquoted })
  .refine(given => durationMs(given) !== undefined, { error: 'is not a duration such as PT1M30S or 1m30s' });

function duration(path: Path, unitMs: number, notation: 'iso' | 'shorthand'): Wire {
  const print = notation === 'iso' ? isoOf : shorthandOf;
  return {
    path,
    schema: durationText,
    read: wire => (durationMs(String(wire)) ?? 0) / unitMs,
    write: value => print(Number(value) * unitMs),
  };
}

/** A map of lists, each written as one text with commas. */
export function joinedMap(path: Path): Wire {
  return {
    path,
    schema: z.record(z.string(), z.string()).nullable(),
    read: wire => mapValues(wire, value => String(value).split(',').filter(Boolean)),
    write: map => mapValues(map, value => (value as string[]).join(',')),
  };
}

function mapValues(map: unknown, turn: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, turn(value)]));
}

const tlsNumbers: Record<string, number> = { '1.0': 769, '1.1': 770, '1.2': 771, '1.3': 772 };

/** A TLS version as the protocol numbers it; 0 where none is asked for. */
export function tlsNumber(path: Path): Wire {
  return {
    path,
    schema: z.union([z.literal(0), ...Object.values(tlsNumbers).map(number => z.literal(number))]),
    read: wire => Object.entries(tlsNumbers).find(([, number]) => number === wire)?.[0] ?? '',
    write: value => tlsNumbers[String(value)] ?? 0,
  };
}
