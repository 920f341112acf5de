import { administratorPermissions, type PermissionLevel, type PermissionMap } from './table.ts';

const levelRanks: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 2 };

const readLevel = (map: PermissionMap, name: string) => (Object.hasOwn(map, name) ? map[name] : undefined);
const isAdministrator = (map: PermissionMap) => readLevel(map, 'IsAdmin') === 'admin';

/** A permission that gives nothing, and takes away a part of another one: to lose it is to gain that part. */
const [narrowing, narrowed] = ['owned_analytics', 'analytics'];
/** Below `read`, above none. */
const narrowedRank = 0.5;

/** 0 for none, 1 for read, 2 for write. An administrator has everything that is not denied by name. */
function toRank(map: PermissionMap, name: string): number {
  if (name === narrowing) return 0;
  const level = readLevel(map, name);
  if (administratorPermissions.includes(name)) return level === 'admin' ? 2 : 0;
  if (level === 'deny') return 0;
  if (isAdministrator(map)) return 2;
  const rank = levelRanks[level ?? ''] ?? 0;
  return name === narrowed && isNarrowing(map) ? Math.min(rank, narrowedRank) : rank;
}

const isNarrowing = (map: PermissionMap) => (levelRanks[readLevel(map, narrowing) ?? ''] ?? 0) > 0;

export interface ExcessPermission {
  readonly permission: string;
  readonly level: PermissionLevel;
}

/**
 * Privilege escalation check: the first permission that a change raises above what its actor holds. A denial that the
 * change lifts counts as raised. Undefined where there is none.
 */
export function findExcess(
  held: PermissionMap,
  next: PermissionMap,
  before: PermissionMap = {},
): ExcessPermission | undefined {
  const names = new Set([...Object.keys(next), ...Object.keys(before), ...Object.keys(held)]);
  for (const permission of names) {
    const rank = toRank(next, permission);
    if (rank <= toRank(before, permission) || rank <= toRank(held, permission)) continue;
    if (administratorPermissions.includes(permission)) return { permission, level: 'admin' };
    return { permission, level: rank <= 1 ? 'read' : 'write' };
  }
  return undefined;
}

/** True where acting as the other user would give something that the actor does not hold. */
export function isOutranked(held: PermissionMap, other: PermissionMap): boolean {
  const { ResetPassword: _held, ...rest } = other;
  return findExcess(held, rest) !== undefined;
}

/** True for an administrator to whom nothing is denied: no user has a permission that it lacks. */
export const isFullAdministrator = (held: PermissionMap): boolean =>
  findExcess(held, { IsAdmin: 'admin' }) === undefined;

const mergeOrder = ['deny', 'read', 'write', 'admin'];

/** Union of permission maps: of each name the higher level. What one map gives whole, another one does not narrow. */
export function mergePermissions(maps: readonly PermissionMap[]): Record<string, string> {
  const merged = new Map<string, string>();
  for (const [name, level] of maps.flatMap(map => Object.entries(map))) {
    const before = merged.get(name);
    if (before === undefined || mergeOrder.indexOf(level) > mergeOrder.indexOf(before)) merged.set(name, level);
  }
  if (maps.some(map => toRank(map, narrowed) > narrowedRank)) merged.delete(narrowing);
  return Object.fromEntries(merged);
}
