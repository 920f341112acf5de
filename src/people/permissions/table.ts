/** A permission of the dashboard, and what it controls. */
interface PermissionRow {
  readonly levels: readonly PermissionLevel[];
  readonly about: string;
}

export type PermissionLevel = 'read' | 'write' | 'admin';
/** Permission name to level: `read`, `write`, `deny`, `admin`. */
export type PermissionMap = Readonly<Record<string, string>>;

const readWrite = ['read', 'write'] as const;

/** All permissions of the product; an organisation may add names of its own, for its rules. */
export const permissionTable: Readonly<Record<string, PermissionRow>> = {
  IsAdmin: { levels: ['admin'], about: 'everything that is not denied by name' },
  ResetPassword: { levels: ['admin'], about: 'passwords of other users; only the operator grants it' },
  access_keys: { levels: readWrite, about: 'access keys of other users: read shows them, write renews them' },
  analytics: { levels: ['read'], about: 'usage and uptime' },
  api_assets: { levels: readWrite, about: 'templates of APIs' },
  apis: { levels: readWrite, about: 'APIs in every format, their owners and categories, schemas, examples' },
  audit_logs: { levels: ['read'], about: 'audit records' },
  certs: { levels: readWrite, about: 'certificates' },
  hooks: { levels: readWrite, about: 'webhooks' },
  idm: { levels: readWrite, about: 'identity profiles' },
  keys: { levels: readWrite, about: 'keys' },
  log: { levels: ['read'], about: 'logged requests' },
  mcp: { levels: readWrite, about: 'MCP proxies' },
  oauth: { levels: readWrite, about: 'OAuth clients and tokens' },
  owned_analytics: { levels: ['read'], about: 'narrows analytics to owned APIs' },
  policies: { levels: readWrite, about: 'policies' },
  portal: { levels: readWrite, about: 'the developer portal' },
  system: { levels: readWrite, about: 'nodes and statistics; to write: purges of cached responses' },
  user_groups: { levels: readWrite, about: 'user groups' },
  users: { levels: readWrite, about: 'users; one’s own record needs no permission' },
  websockets: { levels: ['read'], about: 'notifications' },
};

/** Permissions that only an administrator can hold, and no group. */
export const administratorPermissions: readonly string[] = ['IsAdmin', 'ResetPassword'];
