import { formatIsoTime, toUnixSeconds } from '#base/clock.ts';
import { createDatabaseId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { check, type Fault, invalid } from '#operations/validation-error.ts';
import { Policy, rightsOf, storedPolicy } from './schema.ts';
import type { StoredPolicy } from './store.ts';

/** Bounds of what the indexes hold. */
const nameAtMost = 300;
const idAtMost = 128;
const rightsAtMost = 1000;
const apiIdAtMost = 256;
const authTypeAtMost = 100;

/** Ids that a path would not reach the policy by. */
const unreachable = ['.', '..', 'search'];

/** What is wrong with a policy beyond the shape of its members. */
function faultsOf(policy: Policy): Fault[] {
  const { name = '', auth_type = '' } = policy;
  const apiIds = Object.keys(rightsOf(policy));
  const rules: [broken: boolean, path: string, message: string][] = [
    [name.trim() === '', 'name', 'is required'],
    [name.length > nameAtMost, 'name', `may have at most ${nameAtMost} characters`],
    [auth_type.length > authTypeAtMost, 'auth_type', `may have at most ${authTypeAtMost} characters`],
    [apiIds.length > rightsAtMost, 'access_rights', `may name at most ${rightsAtMost} APIs`],
    [
      apiIds.some(apiId => apiId === '' || apiId.length > apiIdAtMost),
      'access_rights',
      `an API id must have 1 to ${apiIdAtMost} characters`,
    ],
    ...(['_id', 'id'] as const).flatMap((path): typeof rules => {
      const id = policy[path] ?? '';
      return [
        [id.length > idAtMost, path, `may have at most ${idAtMost} characters`],
        [unreachable.includes(id), path, `may not be ${id}`],
      ];
    }),
  ];
  return rules.filter(([broken]) => broken).map(([, path, message]) => ({ path, message }));
}

/** A policy somebody sent, as it will be kept, with a name. */
export function checkedPolicy(
  sent: Policy,
  settings: Settings,
  prefix = '',
): Policy & Pick<StoredPolicy, 'name' | 'state'> {
  if (!settings['policies.allow_unsafe_ids']) check(Policy, sent, prefix);
  const faults = faultsOf(sent);
  if (faults.length > 0)
    throw invalid(faults.map(({ path, message }) => ({ path: [prefix, path].filter(Boolean).join('.'), message })));
  return { ...storedPolicy(sent), name: sent.name!.toWellFormed() } as Policy & Pick<StoredPolicy, 'name' | 'state'>;
}

/** A policy nobody has yet. The ids it brings are kept. */
export function newPolicy(checked: ReturnType<typeof checkedPolicy>, orgId: string, nowMs: number): StoredPolicy {
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
