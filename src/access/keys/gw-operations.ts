import { z } from 'zod';
import { type OwnerServices, resolveOwner } from '#apis/api/owner.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified } from '#operations/shapes.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { grantsNothing } from '../policies/apply-policies.ts';
import { formatKeyId, orgOfKey } from './ids.ts';
import {
  buildKeyId,
  changeKey,
  createKeyWithId,
  type IssuedKey,
  issueKey,
  previewKey,
  putKey,
  readLiveKey,
  removeKey,
} from './issue.ts';
import { booleanQuery, findUserIfAllowed, type KeyOperationServices } from './lookup.ts';
import { problem } from './problems.ts';
import { Key } from './schema.ts';
import type { KeyKind, StoredKey } from './store.ts';

/** Keys of the gateway API: authenticated by the gateway secret, across organisations. */
export interface GatewayKeyServices extends KeyOperationServices, OwnerServices {}

const declared = { surface: 'gateway', noun: 'keys', permission: 'secret' } as const;
/** Problems of the organisation of a new key. */
const ownerProblems = [peopleProblem.organisation_unknown, peopleProblem.limit_reached];
const params = z.object({ keyID: z.string().describe('Id or name of the key') });
const lookup = z.object({
  hashed: booleanQuery.describe('Interprets the path parameter as the hash of the key'),
  username: booleanQuery.describe('Interprets the path parameter as the name of a basic-auth user'),
  org_id: z.string().optional().describe('Organisation of a key name; defaults to the first one'),
  api_id: z.string().optional().describe('Id of an API of that organisation, in place of the organisation id'),
});
const writeQuery = z.object({ suppress_reset: booleanQuery.describe('1 preserves the current quota period') });

/** A key with a password is a basic-auth user. */
const kindOf = ({ basic_auth_data }: Key): KeyKind => (basic_auth_data?.password ? 'basic' : 'token');

/** Omits the id of a basic-auth user where ids are not stored: the caller chose the name. */
const toReturnedId = ({ settings }: Pick<GatewayKeyServices, 'settings'>, kind: KeyKind, keyId: string) =>
  kind === 'basic' && settings['keys.at_rest'] === 'hashed' ? '' : keyId;

const toAddedResponse = (services: GatewayKeyServices, kind: KeyKind, { key_id, key_hash }: IssuedKey) =>
  toModified(toReturnedId(services, kind, key_id), 'added', key_hash);

async function findOrganisation({ findApi }: GatewayKeyServices, { org_id, api_id }: z.output<typeof lookup>) {
  return org_id || (api_id ? (await findApi(api_id))?.orgId : undefined) || undefined;
}

async function lookUpKey(services: GatewayKeyServices, text: string, query: z.output<typeof lookup>) {
  const { keys, settings, defaultOrgId } = services;
  const namedOrgId = await findOrganisation(services, query);
  if (query.hashed) return keys.findByHash(namedOrgId, text);
  const orgId = namedOrgId ?? (await defaultOrgId());
  if (query.username) return findUserIfAllowed(services, orgId, text);
  const stored = (namedOrgId === undefined ? await keys.getAnywhere(text) : undefined) ?? (await keys.get(orgId, text));
  return stored ?? (settings['keys.at_rest'] === 'hashed' ? keys.findByHash(namedOrgId, text) : undefined);
}

async function requireAnyKey(
  services: GatewayKeyServices,
  text: string,
  query: z.output<typeof lookup>,
  missing: ProblemFactory,
): Promise<StoredKey> {
  const stored = await lookUpKey(services, text, query);
  if (!stored || stored.kind === 'organisation') throw missing();
  return stored;
}

export const listGatewayKeys = operation({
  ...declared,
  name: 'listGatewayKeys',
  method: 'GET',
  path: '/gw/keys',
  about: 'Lists the ids of all keys, newest first; their hashes where only those are stored.',
  query: z.object({
    filter: z.string().max(1024).default('').describe('Id of an organisation, or prefix of the ids'),
    api_id: z
      .string()
      .optional()
      .describe('Restricts the list to keys with access to this API, by their own rights or through a policy'),
  }),
  returns: z.object({ keys: z.array(z.string()) }),
  async handle({ query: { filter, api_id: requestedApiId } }, { keys, organisations, findApi }: GatewayKeyServices) {
    const api = requestedApiId ? await findApi(requestedApiId) : undefined;
    const apiId = api?.apiId ?? (requestedApiId || undefined);
    const filterOrgId = orgOfKey(filter);
    const owner = filterOrgId && (await organisations.get(filterOrgId)) ? filterOrgId : undefined;
    const orgId = owner ?? api?.orgId;
    return { keys: await keys.ids({ orgId, apiId }, filter === owner ? '' : filter) };
  },
});

export const addGatewayKey = operation({
  ...declared,
  name: 'addGatewayKey',
  isRepeatable: 'without password',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/keys',
  about: 'Creates a key with a random id in the organisation of org_id, or in the first one.',
  query: writeQuery,
  body: Key,
  returns: modifiedResponse,
  problems: [problem.certificate_unknown, ...ownerProblems],
  async handle({ body, audit }, services: GatewayKeyServices) {
    const orgId = await resolveOwner(services, body.org_id ?? '');
    const kind = kindOf(body);
    const issued = await issueKey(services, orgId, body, { kind });
    audit(issued.key_hash, orgId);
    return toAddedResponse(services, kind, issued);
  },
});

export const putGatewayKey = operation({
  ...declared,
  name: 'putGatewayKey',
  versioned: 'keys',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/keys/{keyID}',
  about: 'Creates or replaces a key with a custom name, or the basic-auth user of that name if a password is sent.',
  params,
  query: writeQuery,
  body: Key,
  returns: modifiedResponse,
  problems: [problem.exists, problem.certificate_unknown, ...ownerProblems],
  async handle({ params: { keyID }, query, body, audit }, services: GatewayKeyServices) {
    const orgId = await resolveOwner(services, body.org_id ?? '');
    const kind = kindOf(body);
    const keyId = buildKeyId(orgId, keyID, services.settings);
    audit(services.keys.hashOf(keyId), orgId);
    const options = { suppressReset: query.suppress_reset };
    const { issued, action } = await putKey(services, { orgId, keyId, kind }, body, options);
    return toModified(toReturnedId(services, kind, issued.key_id), action, issued.key_hash);
  },
});

export const createGatewayKey = operation({
  ...declared,
  name: 'createGatewayKey',
  isRepeatable: 'without password',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/keys/create',
  about: 'Creates a key; one with HMAC signatures gets a new secret, one bound to a certificate gets its id from it.',
  body: Key,
  returns: modifiedResponse,
  problems: [problem.no_rights, problem.certificate_taken, problem.certificate_unknown, ...ownerProblems],
  async handle({ body, audit }, services: GatewayKeyServices) {
    if (grantsNothing(body) && !services.settings['keys.allow_master_keys']) throw problem.no_rights();
    const orgId = await resolveOwner(services, body.org_id ?? '');
    const key = body.hmac_enabled ? { ...body, hmac_string: '' } : body;
    const kind = kindOf(key);
    const issued = key.certificate
      ? await createBoundKey(services, orgId, key)
      : await issueKey(services, orgId, key, { kind });
    audit(issued.key_hash, orgId);
    return toAddedResponse(services, kind, issued);
  },
});

/** Creates the one key of a certificate. */
async function createBoundKey(services: GatewayKeyServices, orgId: string, key: Key): Promise<IssuedKey> {
  const certificate = await services.certificates.get(orgId, key.certificate ?? '');
  if (!certificate) throw problem.certificate_unknown();
  const keyId = formatKeyId(orgId, certificate.id);
  if (await services.keys.getAnywhere(keyId)) throw problem.certificate_taken({ detail: { id: keyId } });
  return createKeyWithId(services, { orgId, keyId, kind: kindOf(key) }, key);
}

export const previewGatewayKey = operation({
  ...declared,
  name: 'previewGatewayKey',
  method: 'POST',
  path: '/gw/keys/preview',
  about: 'Previews a key with its policies applied; nothing is stored.',
  body: Key,
  returns: Key,
  problems: [problem.certificate_unknown, peopleProblem.organisation_unknown],
  async handle({ body }, services: GatewayKeyServices) {
    return (await previewKey(services, await resolveOwner(services, body.org_id ?? ''), body)).issued.data;
  },
});

export const getGatewayKey = operation({
  ...declared,
  name: 'getGatewayKey',
  versioned: 'keys',
  method: 'GET',
  path: '/gw/keys/{keyID}',
  about: 'Returns a key as written, with the current rest of its quotas.',
  params,
  query: lookup,
  returns: Key,
  problems: [problem.unknown, problem.hash_ambiguous, problem.no_usernames],
  async handle({ params: { keyID }, query }, services: GatewayKeyServices) {
    return (await readLiveKey(services, await requireAnyKey(services, keyID, query, problem.unknown))).data;
  },
});

export const updateGatewayKey = operation({
  ...declared,
  name: 'updateGatewayKey',
  versioned: 'keys',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/keys/{keyID}',
  about: 'Replaces a key. Its quota is reset unless suppress_reset is 1; an omitted password does not change.',
  params,
  query: lookup.extend(writeQuery.shape),
  body: Key,
  returns: modifiedResponse,
  problems: [problem.unknown_to_change, problem.hash_ambiguous, problem.no_usernames, problem.certificate_unknown],
  async handle({ params: { keyID }, query, body, audit }, services: GatewayKeyServices) {
    const stored = await requireAnyKey(services, keyID, query, problem.unknown_to_change);
    audit(stored.keyHash, stored.orgId);
    const { key_id, key_hash } = await changeKey(services, stored, body, { suppressReset: query.suppress_reset });
    return toModified(toReturnedId(services, stored.kind, key_id), 'modified', key_hash);
  },
});

export const deleteGatewayKey = operation({
  ...declared,
  name: 'deleteGatewayKey',
  versioned: 'keys',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/keys/{keyID}',
  about: 'Deletes a key; it is refused at once.',
  params,
  query: lookup,
  returns: modifiedResponse,
  problems: [problem.unknown_to_remove, problem.hash_ambiguous, problem.no_usernames],
  async handle({ params: { keyID }, query, audit }, services: GatewayKeyServices) {
    const stored = await requireAnyKey(services, keyID, query, problem.unknown_to_remove);
    audit(stored.keyHash, stored.orgId);
    if (!(await removeKey(services, stored))) throw problem.unknown_to_remove();
    return toModified(keyID, 'deleted');
  },
});

const PolicyAssignment = z.object({
  policy: z.string().optional().describe('Id of a single policy'),
  apply_policies: z
    .array(z.string())
    .nullish()
    .describe('Ids of policies in order; they take precedence over `policy`'),
});

export const setGatewayKeyPolicies = operation({
  ...declared,
  name: 'setGatewayKeyPolicies',
  versioned: 'keys',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/keys/policy/{hash}',
  about: 'Replaces the policies of a key, found by its hash; its other members and its quota do not change.',
  params: z.object({ hash: z.string().describe('Hash of the key') }),
  body: PolicyAssignment,
  returns: modifiedResponse,
  problems: [problem.unknown, problem.no_instruction, problem.hash_ambiguous],
  async handle({ params: { hash }, body: { policy, apply_policies }, audit }, services: GatewayKeyServices) {
    const ids = apply_policies?.length ? apply_policies : [policy ?? ''].filter(Boolean);
    if (ids.length === 0) throw problem.no_instruction();
    const stored = await services.keys.findByHash(undefined, hash);
    if (!stored || stored.kind === 'organisation') throw problem.unknown();
    audit(stored.keyHash, stored.orgId);
    const next = (key: Key) => ({ ...key, apply_policies: ids, apply_policy_id: '' });
    const { key_hash } = await changeKey(services, stored, next, { suppressReset: true });
    return toModified(hash, 'updated', key_hash);
  },
});

export const gatewayKeyOperations = [
  listGatewayKeys,
  addGatewayKey,
  putGatewayKey,
  createGatewayKey,
  previewGatewayKey,
  getGatewayKey,
  updateGatewayKey,
  deleteGatewayKey,
  setGatewayKeyPolicies,
];
