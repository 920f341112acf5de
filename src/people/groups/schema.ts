import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { permissionMap } from '../users/schema.ts';

/** User group: permissions that its users share. */
export const UserGroup = z.object({
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  description: z.string(),
  active: z.boolean(),
  password_max_days: z.int(),
  user_permissions: z.record(z.string(), z.string()),
});
export type UserGroup = z.output<typeof UserGroup>;

/** User group as a list has it. */
export const ListedUserGroup = UserGroup.extend({ users_count: z.int().describe('Number of its users') });

export interface StoredGroup extends UserGroup {
  readonly created_at_ms: number;
}

/** Body of a write. Omitted members get their defaults, also on update. */
export const UserGroupWrite = readOnlyMembers(
  z.object({
    name: z.string().trim().min(1, 'is required').max(200),
    description: z.string().max(5000).default(''),
    active: z.boolean().default(true).describe('An inactive group gives its users no permission'),
    password_max_days: z.int().min(0).max(36_500).default(0),
    user_permissions: permissionMap.refine(map => Object.keys(map).length > 0, 'needs at least one permission'),
  }),
  ['id', 'org_id', 'users_count'],
);

export const toUserGroup = ({ created_at_ms: _at, ...group }: StoredGroup): UserGroup => group;
