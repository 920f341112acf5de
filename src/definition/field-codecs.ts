import { z } from 'zod';
import { formatIsoDuration, formatShorthand, parseDurationMs } from './duration.ts';
import type { FieldCodec } from './facet.ts';

/** Codecs for values that the two formats encode differently. */

type CodecPath = FieldCodec['path'];

/** Negated boolean: absent means enabled. */
export function negation(path: CodecPath): FieldCodec {
  return { path, schema: z.boolean(), valueWhenAbsent: true, decode: value => !value, encode: value => !value };
}

/** A map, encoded as a list of two-member objects sorted by key; of two with one key the later wins. */
export function pairList(path: CodecPath, key: string, value: string, item: z.ZodType = z.string()): FieldCodec {
  return {
    path,
    schema: z.array(z.looseObject({ [key]: z.string(), [value]: item.nullable().optional() })).nullable(),
    decode: encoded =>
      Object.fromEntries(toRecords(encoded).map(pair => [String(pair[key]), pair[value] ?? emptyValue(item)])),
    encode: map =>
      Object.entries(map as Record<string, unknown>)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([name, text]) => ({ [key]: name, [value]: text })),
  };
}

const emptyValue = (item: z.ZodType) => (item instanceof z.ZodArray ? [] : '');
const toRecords = (wire: unknown) => (Array.isArray(wire) ? (wire as Record<string, unknown>[]) : []);

export const headerPairs = (path: CodecPath): FieldCodec => pairList(path, 'name', 'value');

/** Duration as text; the model has seconds. */
export function secondsText(path: CodecPath, notation: 'iso' | 'shorthand' = 'shorthand'): FieldCodec {
  return durationCodec(path, 1000, notation);
}

/** Duration as text; the model has whole seconds. */
export function wholeSecondsText(path: CodecPath): FieldCodec {
  const exact = durationCodec(path, 1000, 'shorthand');
  return { ...exact, decode: wire => Math.floor(Number(exact.decode?.(wire))) };
}

/** Whole seconds as a number; negative values read as 0. */
export function secondsNumber(path: CodecPath): FieldCodec {
  return { path, decode: wire => Math.max(0, Number(wire)) };
}

/** Duration as text; the model has milliseconds. */
export function millisecondsText(path: CodecPath): FieldCodec {
  return durationCodec(path, 1, 'shorthand');
}

const quotesRequired = ({ input }: { input?: unknown }) =>
  input === undefined ? undefined : 'must be a text in quotes, a duration such as 1m30s';
export const durationText = z
  .string({ error: quotesRequired })
  .refine(text => parseDurationMs(text) !== undefined, { error: 'is not a duration such as PT1M30S or 1m30s' });

function durationCodec(path: CodecPath, unitMs: number, notation: 'iso' | 'shorthand'): FieldCodec {
  const format = notation === 'iso' ? formatIsoDuration : formatShorthand;
  return {
    path,
    schema: durationText,
    decode: wire => (parseDurationMs(String(wire)) ?? 0) / unitMs,
    encode: value => format(Number(value) * unitMs),
  };
}

/** A map of lists, each encoded as comma-separated text. */
export function commaListMap(path: CodecPath): FieldCodec {
  return {
    path,
    schema: z.record(z.string(), z.string()).nullable(),
    decode: wire => mapValues(wire, value => String(value).split(',').filter(Boolean)),
    encode: map => mapValues(map, value => (value as string[]).join(',')),
  };
}

function mapValues(map: unknown, convert: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, convert(value)]));
}

const tlsVersionNumbers: Record<string, number> = { '1.0': 769, '1.1': 770, '1.2': 771, '1.3': 772 };

/** TLS version as its protocol number; 0 for none. */
export function tlsVersionNumber(path: CodecPath): FieldCodec {
  return {
    path,
    schema: z.union([z.literal(0), ...Object.values(tlsVersionNumbers).map(number => z.literal(number))]),
    decode: wire => Object.entries(tlsVersionNumbers).find(([, number]) => number === wire)?.[0] ?? '',
    encode: value => tlsVersionNumbers[String(value)] ?? 0,
  };
}
