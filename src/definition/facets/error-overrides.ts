import { isObject } from '#base/json-tree.ts';
import type { Wire } from '../facet.ts';

/** The members of a rule whose names differ between the forms, by the part of the rule they stand in. */
const names: Readonly<Record<string, readonly (readonly [classic: string, oas: string])[]>> = {
  match: [
    ['message_pattern', 'messagePattern'],
    ['body_field', 'bodyField'],
    ['body_value', 'bodyValue'],
  ],
  response: [['status_code', 'statusCode']],
};

type Turn = (pair: readonly [string, string]) => readonly [from: string, to: string];

/** Rules by status, in the spelling of the classic form. */
export const overridesUnderscored = (path: string): Wire => ({
  path,
  read: wire => turned(wire, pair => pair),
  write: value => turned(value, ([classic, oas]) => [oas, classic]),
});

const turned = (rules: unknown, turn: Turn): unknown =>
  mapped(rules, list => (Array.isArray(list) ? list.map(rule => turnedRule(rule, turn)) : list));

const turnedRule = (rule: unknown, turn: Turn): unknown =>
  mapped(rule, (part, name) => {
    const other = new Map((Object.hasOwn(names, name) ? names[name]! : []).map(turn));
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([member, value]) => [other.get(member) ?? member, value]));
  });

const mapped = (value: unknown, change: (inner: unknown, name: string) => unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner, name)]))
    : value;
