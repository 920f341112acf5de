import { z } from 'zod';
import { toUnixSeconds } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { policyIdsOf } from '../policies/apply-policies.ts';
import { explainKey } from '../policies/explain-policies.ts';
import { changeKey, issueKey, missingMember, previewKey, readLiveKey, removeKey } from './issue.ts';
import { applyKeyChanges, KeyChanges, refusePastExpiry } from './key-changes.ts';
import { keyListOperations } from './list-operations.ts';
import {
  booleanQuery,
  changeQuery,
  type KeyOperationServices,
  keyParams,
  lookupQuery,
  refuseHiddenGrants,
  requireKey,
  requireWritableKey,
  withoutHiddenRights,
} from './lookup.ts';
import { problem } from './problems.ts';
import { rotateStoredKey } from './rotate-key.ts';
import { ExplainedKeyEnvelope, KeyEnvelope, keyBody } from './schema.ts';

const declared = { surface: 'dashboard', noun: 'keys' } as const;

export const createKey = operation({
  ...declared,
  name: 'createKey',
  isRepeatable: 'without password',
  method: 'POST',
  changesTraffic: true,
  path: '/api/keys',
  about: 'Creates a key with a random id, or with basic_auth the key of a basic-auth user.',
  permission: 'keys:write',
  query: z.object({ basic_auth: booleanQuery.describe('Creates the key of the user in basic_auth_data') }),
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.exists, problem.certificate_unknown, peopleProblem.limit_reached],
  async handle({ actor, query, body, audit }, services: KeyOperationServices) {
    await refuseHiddenGrants(services, actor, body);
    if (!query.basic_auth) {
      const issued = await issueKey(services, actor.orgId, body);
      audit(issued.key_hash);
      return issued;
    }
    const { user, password } = body.basic_auth_data ?? {};
    const missing = [user ? [] : ['user'], password ? [] : ['password']].flat();
    if (!user || missing.length > 0)
      throw createInvalidProblem(missing.map(name => missingMember(`basic_auth_data.${name}`)));
    const issued = await issueKey(services, actor.orgId, body, { name: user, kind: 'basic' });
    audit(issued.key_hash);
    return issued;
  },
});

export const createCustomKey = operation({
  ...declared,
  name: 'createCustomKey',
  isRepeatable: 'without password',
  method: 'POST',
  changesTraffic: true,
  path: '/api/keys/{keyId}',
  about: 'Creates a key with a custom name; clients may send the name or the whole id.',
  permission: 'keys:write',
  params: keyParams,
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.exists, problem.certificate_unknown, peopleProblem.limit_reached],
  async handle({ actor, params: { keyId: name }, body, audit }, services: KeyOperationServices) {
    await refuseHiddenGrants(services, actor, body);
    const kind = body.basic_auth_data?.password ? 'basic' : 'token';
    const issued = await issueKey(services, actor.orgId, body, { name, kind });
    audit(issued.key_hash);
    return issued;
  },
});

export const getKey = operation({
  ...declared,
  name: 'getKey',
  versioned: 'keys',
  method: 'GET',
  path: '/api/keys/{keyId}',
  about: 'Returns a key as written, with the current rest of its quotas.',
  permission: 'keys:read',
  params: keyParams,
  query: lookupQuery,
  returns: KeyEnvelope,
  problems: [problem.not_found, problem.hash_ambiguous, problem.no_usernames],
  async handle({ actor, params: { keyId }, query }, services: KeyOperationServices) {
    const key = await readLiveKey(services, await requireKey(services, actor, keyId, query));
    return withoutHiddenRights(services, actor, key);
  },
});

export const updateKey = operation({
  ...declared,
  name: 'updateKey',
  versioned: 'keys',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/keys/{keyId}',
  about: 'Replaces a key. Its quota is reset unless suppress_reset is 1; an omitted password does not change.',
  permission: 'keys:write',
  params: keyParams,
  query: changeQuery,
  ...keyBody,
  returns: KeyEnvelope,
  problems: [
    problem.not_found,
    problem.hash_ambiguous,
    problem.no_usernames,
    problem.organisation_key,
    problem.certificate_unknown,
  ],
  async handle({ actor, params: { keyId }, query, body, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, body, stored.key);
    return changeKey(services, stored, body, { suppressReset: query.suppress_reset });
  },
});

export const patchKey = operation({
  ...declared,
  name: 'patchKey',
  versioned: 'keys',
  method: 'PATCH',
  changesTraffic: true,
  path: '/api/keys/{keyId}',
  about: 'Adds and removes policies of a key and extends its expiry; the rest of it and its quota do not change.',
  permission: 'keys:write',
  params: keyParams,
  query: lookupQuery,
  body: KeyChanges,
  example: { add_policies: ['gold'], extend_to: 4102444800 },
  returns: statusResponse,
  problems: [problem.not_found, problem.hash_ambiguous, problem.no_usernames, problem.organisation_key],
  async handle({ actor, params: { keyId }, query, body, audit }, services: KeyOperationServices) {
    refusePastExpiry(body, toUnixSeconds(services.clock.now()));
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    const widened = { ...stored.key, apply_policies: [...policyIdsOf(stored.key), ...body.add_policies] };
    await refuseHiddenGrants(services, actor, widened, stored.key);
    const known = await services.policies.findByIds(stored.orgId, [...body.add_policies, ...body.remove_policies]);
    if (!applyKeyChanges(stored.key, body, known))
      return toStatus('Key unchanged: it has these policies and this expiry');
    await changeKey(services, stored, key => applyKeyChanges(key, body, known) ?? key, { suppressReset: true });
    return toStatus('Key changed');
  },
});

export const deleteKey = operation({
  ...declared,
  name: 'deleteKey',
  versioned: 'keys',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/keys/{keyId}',
  about: 'Deletes a key; it is refused at once.',
  permission: 'keys:write',
  params: keyParams,
  query: lookupQuery,
  returns: statusResponse,
  problems: [problem.not_found, problem.hash_ambiguous, problem.no_usernames, problem.organisation_key],
  async handle({ actor, params: { keyId }, query, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, stored.key);
    if (!(await removeKey(services, stored))) throw problem.not_found();
    return toStatus('Key deleted successfully');
  },
});

/** 90 days. */
const maxGraceSeconds = 7_776_000;

export const rotateKeyOperation = operation({
  ...declared,
  name: 'rotateKey',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/keys/{keyId}/rotate',
  about:
    'Issues a key with the same rights and limits and a new id, with counters of its own. The old one is accepted until the end of the grace period, and removed at once without one.',
  permission: 'keys:write',
  params: keyParams,
  query: lookupQuery,
  body: z.object({
    grace_seconds: z
      .int()
      .min(0)
      .max(maxGraceSeconds)
      .default(0)
      .describe('Seconds during which the old key is accepted too; 0 removes it'),
  }),
  returns: KeyEnvelope.extend({
    replaced: z.object({
      key_hash: z.string().describe('Hash of the old key'),
      expires: z.int().describe('Unix time until which the old key is accepted; 0 where it is removed'),
    }),
  }),
  problems: [
    problem.not_found,
    problem.hash_ambiguous,
    problem.no_usernames,
    problem.organisation_key,
    problem.not_rotatable,
    peopleProblem.limit_reached,
  ],
  async handle({ actor, params: { keyId }, query, body, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, stored.key);
    const { issued, oldKeyExpires } = await rotateStoredKey(services, stored, body.grace_seconds);
    return { ...issued, replaced: { key_hash: stored.keyHash, expires: oldKeyExpires } };
  },
});

export const previewKeyOperation = operation({
  ...declared,
  name: 'previewKey',
  changesNothing: true,
  method: 'POST',
  path: '/api/keys/preview',
  about: 'Previews a key with its policies applied; nothing is stored.',
  permission: 'keys:read',
  query: z.object({ explain: booleanQuery.describe('1 adds where each effective value comes from') }),
  ...keyBody,
  returns: ExplainedKeyEnvelope,
  problems: [problem.certificate_unknown],
  async handle({ actor, query, body }, services: KeyOperationServices) {
    await refuseHiddenGrants(services, actor, body);
    const { issued, prepared } = await previewKey(services, actor.orgId, body);
    const shown = await withoutHiddenRights(services, actor, issued);
    if (!query.explain) return shown;
    const { access_rights } = shown.data;
    return {
      ...shown,
      explanation: explainKey(prepared.key, { ...prepared.effective, access_rights }, prepared.policies),
    };
  },
});

export const keyOperations = [
  createKey,
  createCustomKey,
  getKey,
  updateKey,
  patchKey,
  deleteKey,
  rotateKeyOperation,
  ...keyListOperations,
  previewKeyOperation,
];
