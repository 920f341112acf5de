import type { LucideIcon } from 'lucide-react';

export interface NavigationEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Absent: every user sees it. */
  readonly permission?: string;
  /** In place of it: one of them suffices. */
  readonly permissions?: readonly string[];
  /** Second key of the shortcut after `g`. */
  readonly key?: string;
}

/** Group of the navigation of an app. */
export interface NavigationGroup {
  /** Absent for entries above the groups. */
  readonly label?: string;
  readonly entries: readonly NavigationEntry[];
}

/** Groups with the entries that a user may open. */
export const filterNavigation = (
  groups: readonly NavigationGroup[],
  canUse: (permission: string) => boolean,
): readonly NavigationGroup[] =>
  groups
    .map(group => ({
      ...group,
      entries: group.entries.filter(
        ({ permission, permissions }) =>
          (permission === undefined || canUse(permission)) && (permissions === undefined || permissions.some(canUse)),
      ),
    }))
    .filter(({ entries }) => entries.length > 0);

/** Pages by the second key of their shortcut. */
export const listPageKeys = (groups: readonly NavigationGroup[]): ReadonlyMap<string, string> =>
  new Map(groups.flatMap(({ entries }) => entries.flatMap(it => (it.key ? [[it.key, it.to] as const] : []))));

/** Groups with the one of pinned objects, if there are some, after the first, which has the first page. */
export const insertPinned = (
  groups: readonly NavigationGroup[],
  pinned: NavigationGroup | undefined,
): readonly NavigationGroup[] =>
  pinned && pinned.entries.length > 0 ? [...groups.slice(0, 1), pinned, ...groups.slice(1)] : groups;
