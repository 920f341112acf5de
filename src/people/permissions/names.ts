import { closestMatch } from '#base/closest-match.ts';
import { problem } from '../problems.ts';
import { administratorPermissions, type PermissionMap, permissionTable } from './table.ts';

/** Title by name of the permissions that an organisation added. */
export type CustomPermissions = Readonly<Record<string, string>>;

export interface NameRules {
  readonly custom: CustomPermissions;
  /** Names that the object has already are accepted: their permission may have been removed since. */
  readonly before?: PermissionMap | undefined;
}

/** Rejects a permission that does not exist, with the closest name, and a level that it cannot have. */
export function checkPermissionNames(map: PermissionMap, { custom, before = {} }: NameRules): void {
  for (const [name, level] of Object.entries(map)) {
    if (Object.hasOwn(before, name) && before[name] === level) continue;
    if (!Object.hasOwn(permissionTable, name) && !Object.hasOwn(custom, name)) {
      const nearest = closestMatch(name, [...Object.keys(permissionTable), ...Object.keys(custom)]);
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      throw problem.permission_unknown({ detail: { name, hint } });
    }
    if (administratorPermissions.includes(name) && level !== 'admin' && level !== 'deny')
      throw problem.permission_level_invalid({ detail: { name } });
  }
}

const maxCustomPermissions = 100;
const customName = /^[A-Za-z][\w-]{0,63}$/;

/** Rejects names that an organisation cannot define; those it has already pass. */
export function checkCustomPermissions(custom: CustomPermissions, before: CustomPermissions = {}): void {
  const names = Object.keys(custom).filter(name => !Object.hasOwn(before, name));
  const reject = (name: string, reason: string) => {
    throw problem.custom_permission_invalid({ detail: { path: `additional_permissions.${name}`, reason } });
  };
  if (names.length > 0 && Object.keys(custom).length > maxCustomPermissions)
    throw problem.custom_permission_invalid({
      detail: { path: 'additional_permissions', reason: `has more than ${maxCustomPermissions} names` },
    });
  for (const name of names) {
    if (!customName.test(name)) reject(name, 'must be a letter, then up to 63 letters, digits, _ or -');
    if (Object.hasOwn(permissionTable, name)) reject(name, 'is the name of a built-in permission');
  }
}
