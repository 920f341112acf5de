import { type CurrentUser, canUse } from '../session/session.ts';

type Level = 'read' | 'write' | 'admin';
export type RoleName = 'reader' | 'editor' | 'administrator';

const readings = { analytics: 'read', log: 'read' } as const;

/** Permissions of the roles that the form of a new user offers. */
export const rolePermissions: Readonly<Record<RoleName, Readonly<Record<string, Level>>>> = {
  reader: { apis: 'read', keys: 'read', policies: 'read', ...readings },
  editor: { apis: 'write', keys: 'write', policies: 'write', ...readings },
  administrator: { IsAdmin: 'admin' },
};

/** Roles whose permissions the user holds: the server refuses to grant others. */
export const listGrantableRoles = (session: CurrentUser): readonly RoleName[] =>
  (Object.keys(rolePermissions) as RoleName[]).filter(role =>
    role === 'administrator'
      ? canUse(session, 'admin')
      : Object.entries(rolePermissions[role]).every(([name, level]) => canUse(session, `${name}:${level}`)),
  );

/** Role with exactly these permissions; undefined where there is none. */
export function findRole(permissions: Readonly<Record<string, string>>): RoleName | undefined {
  const held = Object.entries(permissions).filter(([name, level]) => level !== 'deny' && name !== 'ResetPassword');
  return (Object.keys(rolePermissions) as RoleName[]).find(role => {
    const wanted = rolePermissions[role];
    return held.length === Object.keys(wanted).length && held.every(([name, level]) => wanted[name] === level);
  });
}

/** Password links need an administrator with `ResetPassword`. */
export const canCreateLinks = (session: CurrentUser): boolean =>
  canUse(session, 'admin') && session.permissions.ResetPassword === 'admin';
