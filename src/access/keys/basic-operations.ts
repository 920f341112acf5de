import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { buildKeyId, changeKey, missingMember, putKey, readLiveKey, removeKey } from './issue.ts';
import {
  changeQuery,
  findBasicUser,
  type KeyOperationServices,
  refuseHiddenGrants,
  requireUser,
  withoutHiddenRights,
} from './lookup.ts';
import { problem } from './problems.ts';
import { type Key, KeyEnvelope, keyBody } from './schema.ts';

/** Basic-auth users. Their key id is the organisation id followed by the user name. */
const declared = { surface: 'dashboard', noun: 'keys' } as const;
const params = z.object({ username: z.string().describe('Name of the basic-auth user') });

/** RFC 7617, 2: the user-id ends at the first colon. */
function refuseColon(username: string): void {
  if (username.includes(':')) throw createInvalidProblem([{ path: 'username', message: 'must not contain a colon' }]);
}

const withUser = (key: Key, user: string): Key => ({ ...key, basic_auth_data: { ...key.basic_auth_data, user } });

export const writeBasicUser = operation({
  ...declared,
  name: 'writeBasicUser',
  versioned: 'keys',
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/keys/basic/{username}',
  about: 'Creates or replaces the key of a basic-auth user.',
  permission: 'keys:write',
  params,
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.exists, problem.certificate_unknown, peopleProblem.limit_reached],
  async handle({ actor, params: { username }, body, audit }, services: KeyOperationServices) {
    refuseColon(username);
    const keyId = buildKeyId(actor.orgId, username, services.settings);
    audit(services.keys.hashOf(keyId));
    const key = withUser(body, username);
    const stored = await findBasicUser(services.keys, actor.orgId, username);
    await refuseHiddenGrants(services, actor, key, ...(stored ? [stored.key] : []));
    if (stored) return changeKey(services, stored, key);
    if (!key.basic_auth_data?.password) throw createInvalidProblem([missingMember('basic_auth_data.password')]);
    return (await putKey(services, { orgId: actor.orgId, keyId, kind: 'basic' }, key)).issued;
  },
});

export const getBasicUser = operation({
  ...declared,
  name: 'getBasicUser',
  versioned: 'keys',
  method: 'GET',
  path: '/api/apis/keys/basic/{username}',
  about: 'Returns the key of a basic-auth user; the password is never returned.',
  permission: 'keys:read',
  params,
  returns: KeyEnvelope,
  problems: [problem.not_found],
  async handle({ actor, params: { username } }, services: KeyOperationServices) {
    const stored = await requireUser(services, actor, username);
    return withoutHiddenRights(services, actor, await readLiveKey(services, stored));
  },
});

export const updateBasicUser = operation({
  ...declared,
  name: 'updateBasicUser',
  versioned: 'keys',
  method: 'PUT',
  changesTraffic: true,
  path: '/api/apis/keys/basic/{username}',
  about: 'Replaces the key of a basic-auth user; an omitted password does not change.',
  permission: 'keys:write',
  params,
  query: changeQuery.pick({ suppress_reset: true }),
  ...keyBody,
  returns: KeyEnvelope,
  problems: [problem.not_found, problem.certificate_unknown],
  async handle({ actor, params: { username }, query, body, audit }, services: KeyOperationServices) {
    const stored = await requireUser(services, actor, username);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, body, stored.key);
    return changeKey(services, stored, withUser(body, username), { suppressReset: query.suppress_reset });
  },
});

export const deleteBasicUser = operation({
  ...declared,
  name: 'deleteBasicUser',
  versioned: 'keys',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/keys/basic/{username}',
  about: 'Deletes the key of a basic-auth user.',
  permission: 'keys:write',
  params,
  returns: statusResponse,
  problems: [problem.not_found],
  async handle({ actor, params: { username }, audit }, services: KeyOperationServices) {
    const stored = await requireUser(services, actor, username);
    audit(stored.keyHash);
    await refuseHiddenGrants(services, actor, stored.key);
    if (!(await removeKey(services, stored))) throw problem.not_found();
    return toStatus('Key deleted successfully');
  },
});

export const basicKeyOperations = [writeBasicUser, getBasicUser, updateBasicUser, deleteBasicUser];
