import { z } from 'zod';
import { formatIsoDuration, formatShorthand, parseDurationMs } from './duration.ts';
import type { FieldCodec } from './facet.ts';

/** The ways in which the two forms write one value differently. */

type CodecPath = FieldCodec['path'];

/** The form holds the opposite: silence there means "on". */
export function negation(path: CodecPath): FieldCodec {
  return { path, schema: z.boolean(), absent: true, read: value => !value, write: value => !value };
}

/** A map, written as a list of two-member objects sorted by key; of two with one key the later wins. */
export function pairList(path: CodecPath, key: string, value: string, item: z.ZodType = z.string()): FieldCodec {
  return {
    path,
    schema: z.array(z.looseObject({ [key]: z.string(), [value]: item.nullable().optional() })).nullable(),
    read: encoded =>
      Object.fromEntries(toRecords(encoded).map(pair => [String(pair[key]), pair[value] ?? emptyValue(item)])),
    write: map =>
      Object.entries(map as Record<string, unknown>)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([name, given]) => ({ [key]: name, [value]: given })),
  };
}

const emptyValue = (item: z.ZodType) => (item instanceof z.ZodArray ? [] : '');
const toRecords = (wire: unknown) => (Array.isArray(wire) ? (wire as Record<string, unknown>[]) : []);

export const headerPairs = (path: CodecPath): FieldCodec => pairList(path, 'name', 'value');

/** A length of time as text; the model counts in seconds. */
export function secondsText(path: CodecPath, notation: 'iso' | 'shorthand' = 'shorthand'): FieldCodec {
  return durationCodec(path, 1000, notation);
}

/** The same for fields that know whole seconds only. */
export function wholeSecondsText(path: CodecPath): FieldCodec {
  const exact = durationCodec(path, 1000, 'shorthand');
  return { ...exact, read: wire => Math.floor(Number(exact.read?.(wire))) };
}

/** Whole seconds as a number, of which fewer than none are none. */
export function secondsNumber(path: CodecPath): FieldCodec {
  return { path, read: wire => Math.max(0, Number(wire)) };
}

/** A length of time as text; the model counts in milliseconds. */
export function millisecondsText(path: CodecPath): FieldCodec {
  return durationCodec(path, 1, 'shorthand');
}

const quotesRequired = ({ input }: { input?: unknown }) =>
  input === undefined ? undefined : 'must be a text in quotes, a duration such as 1m30s';
export const durationText = z
  .string({ error: quotesRequired })
  .refine(given => parseDurationMs(given) !== undefined, { error: 'is not a duration such as PT1M30S or 1m30s' });

function durationCodec(path: CodecPath, unitMs: number, notation: 'iso' | 'shorthand'): FieldCodec {
  const format = notation === 'iso' ? formatIsoDuration : formatShorthand;
  return {
    path,
    schema: durationText,
    read: wire => (parseDurationMs(String(wire)) ?? 0) / unitMs,
    write: value => format(Number(value) * unitMs),
  };
}

/** A map of lists, each written as one text with commas. */
export function commaListMap(path: CodecPath): FieldCodec {
  return {
    path,
    schema: z.record(z.string(), z.string()).nullable(),
    read: wire => mapValues(wire, value => String(value).split(',').filter(Boolean)),
    write: map => mapValues(map, value => (value as string[]).join(',')),
  };
}

function mapValues(map: unknown, convert: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, convert(value)]));
}

const tlsVersionNumbers: Record<string, number> = { '1.0': 769, '1.1': 770, '1.2': 771, '1.3': 772 };

/** A TLS version as the protocol numbers it; 0 where none is asked for. */
export function tlsVersionNumber(path: CodecPath): FieldCodec {
  return {
    path,
    schema: z.union([z.literal(0), ...Object.values(tlsVersionNumbers).map(number => z.literal(number))]),
    read: wire => Object.entries(tlsVersionNumbers).find(([, number]) => number === wire)?.[0] ?? '',
    write: value => tlsVersionNumbers[String(value)] ?? 0,
  };
}
