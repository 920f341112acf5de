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
