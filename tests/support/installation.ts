import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#base/clock.ts';
import { createSecretText } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import type { InstallationCredentials } from '#people/installation/bootstrap.ts';
import { type Application, startApplication } from '../../src/application.ts';
import { type EngineName, rememberSecrets } from './app.ts';
import { recordChange } from './reached-problems.ts';
import { testPostgres } from './services/engines.ts';
import { eventually } from './upstream.ts';

/** One database on which processes are started, stopped and started again, each in a directory of its own. */
export async function testInstallation(
  engine: EngineName,
  settings: Partial<Record<SettingName, string>> = {},
  onLog?: (line: string) => void,
) {
  const root = mkdtempSync(join(tmpdir(), 'gw-test-'));
  const database = engine === 'postgres' ? await testPostgres() : undefined;
  const master = createSecretText();
  const running = new Set<Application>();
  let credentials: InstallationCredentials | undefined;

  async function start(name = 'one', more: Partial<Record<SettingName, string>> = {}): Promise<TestProcess> {
    const read = readSettings({
      flags: {
        ...{ data_dir: join(root, name), master_key: master, 'gateway.host': '127.0.0.1', threads: '1' },
        ...{ 'gateway.port': '0', 'dashboard.port': '0', 'portal.port': '0' },
        ...(database ? { 'database.url': database.url } : {}),
        ...settings,
        ...more,
      },
    });
    const log = createLog({ level: onLog ? 'info' : 'silent', format: 'json', write: line => onLog?.(line) });
    const application = await startApplication(read, { log, clock: systemClock });
    application.installation.records.onChange(recordChange);
    running.add(application);
    if (application.credentials) rememberSecrets(application.credentials);
    credentials ??= application.credentials;
    return testProcess(application, credentials!, () => running.delete(application));
  }

  return {
    start,
    async close() {
      for (const application of running) await application.close();
      await database?.drop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export interface TestProcess {
  readonly application: Application;
  readonly gateway: string;
  /** A write to the management side, which must succeed. */
  write(method: string, path: string, body?: unknown): Promise<ReturnType<typeof JSON.parse>>;
  waitUntilApplied(): Promise<void>;
  stop(): Promise<void>;
}

function testProcess(application: Application, credentials: InstallationCredentials, stopped: () => void): TestProcess {
  const { gateway, dashboard } = application.urls;
  return {
    application,
    gateway: gateway!,
    async write(method, path, body) {
      const credential: Record<string, string> = path.startsWith('/admin')
        ? { 'admin-auth': credentials.admin_secret }
        : { authorization: credentials.admin_access_key };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const reply = await fetch(dashboard + path, { method, headers: { ...credential, ...type }, ...sent });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
      return JSON.parse(text);
    },
    waitUntilApplied: application.waitForDataPlane,
    async stop() {
      stopped();
      await application.close();
    },
  };
}

export { eventually };
