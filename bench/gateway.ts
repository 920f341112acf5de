import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MeasuredProcess, startPinned, waitForPort } from './processes.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Gateway process with its own data directory, and a client of its management APIs. */
export interface BenchGateway extends MeasuredProcess {
  readonly url: string;
  send(method: string, path: string, body?: unknown): Promise<Answer>;
  sendToPortal(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Resolves when every traffic thread serves the changes sent before. */
  waitUntilServed(): Promise<void>;
}

export interface GatewayPorts {
  readonly gateway: number;
  readonly dashboard: number;
  readonly portal: number;
}

export async function startGateway(
  directory: string,
  ports: GatewayPorts,
  cores: string,
  threads: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchGateway> {
  const env = {
    ...process.env,
    ...settings,
    GW_DATA_DIR: directory,
    GW_GATEWAY_HOST: '127.0.0.1',
    GW_GATEWAY_PORT: String(ports.gateway),
    GW_DASHBOARD_PORT: String(ports.dashboard),
    GW_PORTAL_PORT: String(ports.portal),
    GW_THREADS: String(threads),
    GW_LOG_LEVEL: settings.GW_LOG_LEVEL ?? 'warn',
  };
  const measured = startPinned(cores, process.execPath, [join(import.meta.dirname, '../src/main.ts'), 'start'], env);
  await waitForPort(ports.gateway, measured);
  await waitForPort(ports.dashboard, measured);
  const { admin_access_key: key, gateway_secret: secret, portal_token } = await readCredentials(directory, measured);
  return {
    ...measured,
    url: `${settings.GW_GATEWAY_TLS_ENABLED === 'true' ? 'https' : 'http'}://127.0.0.1:${ports.gateway}`,
    async waitUntilServed() {
      const headers = { 'x-gw-authorization': secret! };
      const { status } = await fetch(`http://127.0.0.1:${ports.dashboard}/gw/reload/?block=true`, { headers });
      if (status !== 200) throw new Error(`reload: ${status}`);
    },
    send: (method, path, body) =>
      send(`http://127.0.0.1:${ports.dashboard}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'x-gw-authorization': secret! },
        body,
      }),
    sendToPortal: (method, path, body) =>
      send(`http://127.0.0.1:${ports.portal}${path}`, {
        method,
        headers: { authorization: portal_token!, 'content-type': 'application/json' },
        body,
      }),
  };
}

async function send(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: unknown },
): Promise<Answer> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Waits for `credentials.json`, which is written once all listeners are open. */
async function readCredentials(directory: string, { child }: MeasuredProcess): Promise<Record<string, string>> {
  const file = join(directory, 'credentials.json');
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`the gateway exited before it wrote ${file}`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
}
