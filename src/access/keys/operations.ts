import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { pageNumber, statusResponse, toStatus } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { withoutHidden } from '../hidden-rights.ts';
import { explainKey } from '../policies/explain-policies.ts';
import { changeKey, issueKey, missingMember, previewKey, readLiveKey, removeKey, toIssuedKey } from './issue.ts';
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
import { ExplainedKeyEnvelope, KeyEnvelope, keyBody } from './schema.ts';

const declared = { surface: 'dashboard', noun: 'keys' } as const;

export const createKey = operation({
  ...declared,
  name: 'createKey',
  isRepeatable: 'without password',
  method: 'POST',
  path: '/api/keys',
  about: 'Creates a key with a random id, or with basic_auth the key of a basic-auth user.',
  permission: 'keys:write',
  query: z.object({ basic_auth: booleanQuery.describe('Creates the key of the user in basic_auth_data') }),
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.exists, problem.certificate_unknown],
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
  path: '/api/keys/{keyId}',
  about: 'Creates a key with a custom name; clients may send the name or the whole id.',
  permission: 'keys:write',
  params: keyParams,
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.exists, problem.certificate_unknown],
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
  problems: [problem.not_found, problem.hash_ambiguous],
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
  path: '/api/keys/{keyId}',
  about: 'Replaces a key. Its quota is reset unless suppress_reset is 1; an omitted password does not change.',
  permission: 'keys:write',
  params: keyParams,
  query: changeQuery,
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.not_found, problem.hash_ambiguous, problem.organisation_key, problem.certificate_unknown],
  async handle({ actor, params: { keyId }, query, body, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, body, stored.key);
    return changeKey(services, stored, body, { suppressReset: query.suppress_reset });
  },
});

export const deleteKey = operation({
  ...declared,
  name: 'deleteKey',
  versioned: 'keys',
  method: 'DELETE',
  path: '/api/keys/{keyId}',
  about: 'Deletes a key; it is refused at once.',
  permission: 'keys:write',
  params: keyParams,
  query: lookupQuery,
  returns: statusResponse,
  problems: [problem.not_found, problem.hash_ambiguous, problem.organisation_key],
  async handle({ actor, params: { keyId }, query, audit }, services: KeyOperationServices) {
    const stored = await requireWritableKey(services, actor, keyId, query);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, stored.key);
    if (!(await removeKey(services, stored))) throw problem.not_found();
    return toStatus('Key deleted successfully');
  },
});

export const listKeysDetailed = operation({
  ...declared,
  name: 'listKeysDetailed',
  method: 'GET',
  path: '/api/keys/detailed',
  about: 'Lists the keys of the caller’s organisation with all their members, newest first.',
  permission: 'keys:read',
  query: z.object({ q: z.string().max(1024).optional().describe('Part of the key id'), p: pageNumber }),
  returns: z.object({ keys: z.array(KeyEnvelope), pages: z.int() }),
  async handle({ actor, query: { q, p } }, { keys, settings, ownership }: KeyOperationServices) {
    const hidden = await ownership.findHidden(actor);
    const keyQuery = { q, page: p, size: settings['management.page_size'], hiddenApis: hidden.apiIds };
    const { items, pages } = await keys.page(actor.orgId, keyQuery);
    return { keys: items.map(it => toIssuedKey({ ...it, key: withoutHidden(it.key, hidden) })), pages };
  },
});

export const previewKeyOperation = operation({
  ...declared,
  name: 'previewKey',
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
  deleteKey,
  listKeysDetailed,
  previewKeyOperation,
];
