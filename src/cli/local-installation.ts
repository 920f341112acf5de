import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readSettings } from '#base/settings.ts';
import { createClientFetch } from './client-fetch.ts';
import { problem } from './problems.ts';

/**
 * Installation on this machine, from its data directory: the URLs (`listening.json`) and the secrets
 * (`credentials.json`). Takes no lock.
 */
export interface LocalInstallation {
  /** URL of the control API. */
  readonly url: string | undefined;
  readonly dashboardUrl: string | undefined;
  /**
   * Undefined for a URL that is neither this installation's nor on this machine: a secret is sent to its owner only.
   */
  secretFor(url: string, name?: LocalCredential): string | undefined;
  /** `fetch` for a URL, with the authorities and the client certificate that the environment names. */
  fetchFor(url: string): typeof fetch;
  /** URL of the traffic listener. */
  readonly gatewayUrl: string | undefined;
}

/** Credentials of `credentials.json`. */
export type LocalCredential = 'gateway_secret' | 'admin_secret' | 'admin_access_key';

export interface LocalOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDir?: string | undefined;
}

/** Reads settings and files on first use: a command with URL and secret needs neither. */
export function openLocalInstallation({ environment, dataDir }: LocalOptions): LocalInstallation {
  let directory: string | undefined;
  function read(name: string): Record<string, unknown> | undefined {
    directory ??= resolve(
      dataDir ?? readSettings({ file: { path: 'gw.yaml', required: false }, environment }).data_dir,
    );
    return readObject(join(directory, name));
  }
  const listening = () => read('listening.json') ?? {};
  return {
    get url() {
      const { control, dashboard } = listening();
      return nonEmptyText(control) ?? nonEmptyText(dashboard);
    },
    get dashboardUrl() {
      return nonEmptyText(listening().dashboard);
    },
    get gatewayUrl() {
      return nonEmptyText(listening().gateway);
    },
    fetchFor(url) {
      const { GW_CA_FILE: caFile, GW_CLIENT_CERTIFICATE_FILE, GW_CLIENT_KEY_FILE } = environment;
      const isLocal = /^https:/i.test(url) && isLoopback(url) && isManagementUrl(listening(), url);
      return createClientFetch({
        caFile,
        certificateFile: GW_CLIENT_CERTIFICATE_FILE,
        keyFile: GW_CLIENT_KEY_FILE,
        localCertificateFile: isLocal && !caFile ? nonEmptyText(listening().certificate_file) : undefined,
      });
    },
    secretFor(url, name = 'gateway_secret') {
      if (!isLoopback(url) && !Object.values(listening()).includes(trimUrl(url))) return undefined;
      // Fixed by a setting: that of `credentials.json` may be an earlier one.
      const fixed = name === 'gateway_secret' ? nonEmptyText(environment.GW_GATEWAY_SECRET) : undefined;
      return fixed ?? nonEmptyText(read('credentials.json')?.[name]);
    },
  };
}

const trimUrl = (url: string) => url.replace(/\/+$/, '');

/** The certificate in `listening.json` is that of the management listeners. */
const isManagementUrl = ({ dashboard, portal, control }: Record<string, unknown>, url: string) =>
  [dashboard, portal, control].includes(trimUrl(url));

const nonEmptyText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const isLoopback = (url: string) =>
  URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

function readObject(path: string): Record<string, unknown> | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw problem.unreadable({ detail: { path, reason: code }, cause });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The parser's message quotes the text, which may contain a secret.
  }
  throw problem.not_documents({ detail: { path, where: '' } });
}
