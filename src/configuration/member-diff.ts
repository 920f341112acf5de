import { isObject } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import type { MemberChange, Spec } from './schema.ts';

export type MemberPath = readonly (string | number)[];

/** Longer values are described by their size. */
const maxValueCharacters = 1000;

/** Equality of JSON values; the order of members does not count. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, at) => isSameJson(item, right[at]));
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left).filter(name => left[name] !== undefined);
  const others = Object.keys(right).filter(name => right[name] !== undefined);
  return names.length === others.length && names.every(name => isSameJson(left[name], ownMember(right, name)));
}

/** A spec beside its masked copy: differences are found in the plain one and shown from the masked one. */
export interface MaskedPair {
  readonly plain: unknown;
  readonly masked: unknown;
}

/** Members that differ, at most `maxMembers` of them; the rest is counted. */
export function diffMembers(before: MaskedPair, after: MaskedPair, maxMembers: number) {
  const members: MemberChange[] = [];
  let more = 0;
  walkDifferences(before, after, ['spec'], (path, left, right) => {
    if (members.length >= maxMembers) more++;
    else members.push(toMemberChange(path, left, right));
  });
  return { members, more };
}

type ReportDifference = (path: MemberPath, before: MaskedPair, after: MaskedPair) => void;

function walkDifferences(before: MaskedPair, after: MaskedPair, path: MemberPath, report: ReportDifference): void {
  const [left, right] = [before.plain, after.plain];
  if (isSameJson(left, right)) return;
  const areLists = Array.isArray(left) && Array.isArray(right);
  if (!areLists && !(isObject(left) && isObject(right))) return report(path, before, after);
  const names = areLists
    ? Array.from({ length: Math.max(left.length, right.length) }, (_none, at) => at)
    : [...new Set([...Object.keys(left as object), ...Object.keys(right as object)])].sort();
  for (const name of names) walkDifferences(pairAt(before, name), pairAt(after, name), [...path, name], report);
}

const pairAt = ({ plain, masked }: MaskedPair, name: string | number): MaskedPair => ({
  plain: ownMember(plain, name),
  masked: ownMember(masked, name),
});

const ownMember = (value: unknown, name: string | number): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string | number, unknown>)[name]
    : undefined;

function toMemberChange(path: MemberPath, before: MaskedPair, after: MaskedPair): MemberChange {
  const text = formatMemberPath(path);
  if (!isSameJson(before.plain, before.masked) || !isSameJson(after.plain, after.masked)) {
    const isVisible = isObject(before.masked) || isObject(after.masked);
    if (!isVisible) return { path: text, is_secret: true };
  }
  return {
    path: text,
    ...(before.plain !== undefined && { before: describeValue(before.masked) }),
    ...(after.plain !== undefined && { after: describeValue(after.masked) }),
  };
}

function describeValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? '';
  if (text.length <= maxValueCharacters) return value;
  return `(${Array.isArray(value) ? 'list' : isObject(value) ? 'object' : 'text'} of ${text.length} characters)`;
}

/** Paths of the texts that masking replaced. */
export function findMasked(plain: Spec, masked: Spec): MemberPath[] {
  const found: MemberPath[] = [];
  collectMasked(plain, masked, [], found);
  return found;
}

function collectMasked(plain: unknown, masked: unknown, path: MemberPath, found: MemberPath[]): void {
  if (plain === masked) return;
  if (typeof plain === 'string') found.push(path);
  else if (Array.isArray(plain))
    for (const [at, item] of plain.entries()) collectMasked(item, (masked as unknown[])[at], [...path, at], found);
  else if (isObject(plain))
    for (const [name, member] of Object.entries(plain))
      collectMasked(member, ownMember(masked, name), [...path, name], found);
}
