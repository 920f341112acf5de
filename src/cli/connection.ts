import { type LocalCredential, openLocalInstallation } from './local-installation.ts';

/** Credential of a surface: its environment variable, and its name in `credentials.json`. */
const credentials = {
  gateway: { variable: 'GW_SECRET', local: 'gateway_secret' },
  admin: { variable: 'GW_ADMIN_SECRET', local: 'admin_secret' },
  dashboard: { variable: 'GW_ACCESS_KEY', local: 'admin_access_key' },
} as const satisfies Readonly<Record<string, { variable: string; local: LocalCredential }>>;

const defaultUrl = 'http://127.0.0.1:3000';

interface ConnectionFlags {
  readonly url?: string | undefined;
  readonly secret?: string | undefined;
  readonly 'data-dir'?: string | undefined;
}

/** URL and credential of a surface: from the flags, the environment, or the installation on this machine. */
export function resolveConnection(
  surface: keyof typeof credentials,
  flags: ConnectionFlags,
  environment: Readonly<Record<string, string | undefined>>,
): { url: string; secret: string; fetch: typeof fetch } {
  const local = openLocalInstallation({ environment, dataDir: flags['data-dir'] });
  const { variable, local: name } = credentials[surface];
  const url = flags.url || environment.GW_URL || (surface === 'gateway' ? local.url : local.dashboardUrl) || defaultUrl;
  const secret = flags.secret ?? environment[variable] ?? local.secretFor(url, name) ?? '';
  return { url, secret, fetch: local.fetchFor(url) };
}
