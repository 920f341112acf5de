import { isObject } from '#base/json-tree.ts';
import type { FieldCodec } from '../facet.ts';

/** Members of a rule whose names differ between the formats, by the part of the rule. */
const names: Readonly<Record<string, readonly (readonly [classic: string, oas: string])[]>> = {
  match: [
    ['message_pattern', 'messagePattern'],
    ['body_field', 'bodyField'],
    ['body_value', 'bodyValue'],
  ],
  response: [['status_code', 'statusCode']],
};

type NameMapping = (pair: readonly [string, string]) => readonly [from: string, to: string];

/** Rules by status, in the snake case of the classic format. */
export const snakeCaseOverrides = (path: string): FieldCodec => ({
  path,
  decode: wire => renameMembers(wire, pair => pair),
  encode: value => renameMembers(value, ([classic, oas]) => [oas, classic]),
});

const renameMembers = (rules: unknown, mapping: NameMapping): unknown =>
  mapMembers(rules, list => (Array.isArray(list) ? list.map(rule => renameRuleMembers(rule, mapping)) : list));

const renameRuleMembers = (rule: unknown, mapping: NameMapping): unknown =>
  mapMembers(rule, (part, name) => {
    const other = new Map((Object.hasOwn(names, name) ? names[name]! : []).map(mapping));
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([member, value]) => [other.get(member) ?? member, value]));
  });

const mapMembers = (value: unknown, change: (inner: unknown, name: string) => unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner, name)]))
    : value;
