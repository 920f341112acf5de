import { formatIsoTime, toUnixSeconds } from '#base/clock.ts';
import { createDatabaseId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { createInvalidProblem, type ValidationError, validate } from '#operations/validation-error.ts';
import { normalizePolicy, Policy, rightsOf } from './schema.ts';
import type { StoredPolicy } from './store.ts';

/** Bounds of indexed columns. */
const maxNameLength = 300;
const maxIdLength = 128;
const maxAccessRights = 1000;
const maxApiIdLength = 256;
const maxAuthTypeLength = 100;

/** Ids that collide with path segments of the routes. */
const unroutableIds = ['.', '..', 'search'];

/** Checks beyond the schema of the members. */
function findPolicyFaults(policy: Policy): ValidationError[] {
  const { name = '', auth_type = '' } = policy;
  const apiIds = Object.keys(rightsOf(policy));
  const rules: [broken: boolean, path: string, message: string][] = [
    [name.trim() === '', 'name', 'is required'],
    [name.length > maxNameLength, 'name', `may have at most ${maxNameLength} characters`],
    [auth_type.length > maxAuthTypeLength, 'auth_type', `may have at most ${maxAuthTypeLength} characters`],
    [apiIds.length > maxAccessRights, 'access_rights', `may name at most ${maxAccessRights} APIs`],
    [
      apiIds.some(apiId => apiId === '' || apiId.length > maxApiIdLength),
      'access_rights',
      `an API id must have 1 to ${maxApiIdLength} characters`,
    ],
    ...(['_id', 'id'] as const).flatMap((path): typeof rules => {
      const id = policy[path] ?? '';
      return [
        [id.length > maxIdLength, path, `may have at most ${maxIdLength} characters`],
        [unroutableIds.includes(id), path, `may not be ${id}`],
      ];
    }),
  ];
  return rules.filter(([broken]) => broken).map(([, path, message]) => ({ path, message }));
}

/** Validates and normalises a policy as it will be stored. */
export function checkPolicy(
  sent: Policy,
  settings: Settings,
  prefix = '',
): Policy & Pick<StoredPolicy, 'name' | 'state'> {
  if (!settings['policies.allow_unsafe_ids']) validate(Policy, sent, prefix);
  const faults = findPolicyFaults(sent);
  if (faults.length > 0)
    throw createInvalidProblem(
      faults.map(({ path, message }) => ({ path: [prefix, path].filter(Boolean).join('.'), message })),
    );
  return { ...normalizePolicy(sent), name: sent.name!.toWellFormed() } as Policy & Pick<StoredPolicy, 'name' | 'state'>;
}

/** Builds a new policy; ids that were sent are used. */
export function newPolicy(checked: ReturnType<typeof checkPolicy>, orgId: string, nowMs: number): StoredPolicy {
  const _id = checked._id || createDatabaseId(nowMs);
  return {
    ...checked,
    _id,
    id: checked.id || _id,
    org_id: orgId,
    date_created: formatIsoTime(nowMs),
    last_updated: String(toUnixSeconds(nowMs)),
  };
}
