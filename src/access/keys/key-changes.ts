import { z } from 'zod';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { policyIdsOf } from '../policies/apply-policies.ts';
import type { StoredPolicy } from '../policies/store.ts';
import type { Key } from './schema.ts';

const maxChangedPolicies = 100;
const namedTwice = 'names a policy that add_policies names too';
const policyIds = z.array(z.string().min(1)).max(maxChangedPolicies);

/** Changes that mean the same for any number of keys, and the same when they are repeated. */
export const KeyChanges = z
  .object({
    add_policies: policyIds.default([]).describe('Ids of policies that the key gets, after those it has'),
    remove_policies: policyIds.default([]).describe('Ids of policies that the key loses'),
    extend_to: z
      .int()
      .min(0)
      .optional()
      .describe('Unix time until which the key is accepted at least; 0: it never expires. A later expiry stays'),
  })
  .refine(
    it => it.add_policies.length + it.remove_policies.length > 0 || it.extend_to !== undefined,
    'name at least one of add_policies, remove_policies and extend_to',
  )
  .refine(it => !it.add_policies.some(id => it.remove_policies.includes(id)), {
    path: ['remove_policies'],
    message: namedTwice,
  });
export type KeyChanges = z.output<typeof KeyChanges>;

/** An expiry in the past would end keys that are asked to be extended. */
export function refusePastExpiry({ extend_to: time }: KeyChanges, nowSeconds: number): void {
  if (time !== undefined && time > 0 && time <= nowSeconds)
    throw createInvalidProblem([{ path: 'extend_to', message: 'is in the past' }]);
}

/** Expiry of a key; 0 is never. */
function extendExpiry(expires: number, time: number | undefined): number {
  if (time === undefined || expires <= 0) return expires;
  return time === 0 ? 0 : Math.max(expires, time);
}

/** Policies of the changes by the id that these name them with; an unknown one is missing. */
export type ChangedPolicies = ReadonlyMap<string, Pick<StoredPolicy, 'id' | '_id'>>;

/** Either id of the policies: a key may name a policy by another id than the changes do. */
const toPolicyNames = (ids: readonly string[], known: ChangedPolicies): ReadonlySet<string> =>
  new Set(
    ids.flatMap(id => {
      const policy = known.get(id);
      return policy ? [policy.id, policy._id] : [id];
    }),
  );

/** Without a policy the rights and limits that the key itself has apply, which may be wider. */
const lastPolicyTaken = {
  path: 'remove_policies',
  message: 'would take the last policy of the key: delete the key or replace its rights',
};

/** Policies of a key after the changes. */
function changePolicies(before: readonly string[], changes: KeyChanges, known: ChangedPolicies): string[] {
  const removed = toPolicyNames(changes.remove_policies, known);
  const policies = [...new Set(before)].filter(id => !removed.has(id));
  for (const id of changes.add_policies) {
    const names = toPolicyNames([id], known);
    if (names.values().some(name => removed.has(name)))
      throw createInvalidProblem([{ path: 'remove_policies', message: namedTwice }]);
    if (!policies.some(policy => names.has(policy))) policies.push(id);
  }
  return policies;
}

/** The key with the changes; undefined where it has all of them. */
export function applyKeyChanges(key: Key, changes: KeyChanges, known: ChangedPolicies): Key | undefined {
  const before = policyIdsOf(key);
  const policies = changePolicies(before, changes, known);
  if (before.length > 0 && policies.length === 0) throw createInvalidProblem([lastPolicyTaken]);
  const { expires: expiresBefore = 0 } = key;
  const expires = extendExpiry(expiresBefore, changes.extend_to);
  if (expires === expiresBefore && policies.join('\n') === before.join('\n')) return undefined;
  return { ...key, apply_policies: policies, apply_policy_id: '', expires };
}
