import type { TemplateReference } from '#definition/data-graph/source-template.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { readMember } from './graphql-value.ts';

/** Values that templates of one field may name. */
export interface SourceScope {
  readonly call: Exchange;
  readonly args: Readonly<Record<string, unknown>>;
  /** Parent object as its source has it. */
  readonly parent: unknown;
}

/** The value of a reference; undefined where the request has none. */
export function readReference({ from, path }: TemplateReference, { call, args, parent }: SourceScope): unknown {
  if (from === 'headers') return call.headers.get(path[0]!);
  const [first, ...below] = path;
  let value = from === 'arguments' ? readOwn(args, first!) : readMember(parent, first!);
  for (const name of below) value = readOwn(value, name);
  return value;
}

/** Own members alone: names of prototypes are no values. */
export function readOwn(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Text of a value: objects and lists as JSON, nothing for null. */
export function formatSourceValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
