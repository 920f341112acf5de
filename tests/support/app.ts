import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { type Clock, systemClock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import type { SurfaceName } from '#operations/surfaces.ts';
import { surfaces } from '#operations/surfaces.ts';
import type { WebApp } from '#operations/web-app/web-app.ts';
import type { InstallationCredentials } from '#people/installation/bootstrap.ts';
import { type Application, startApplication } from '../../src/application.ts';
import { recordChange, recordProblems } from './reached-problems.ts';
import { type EngineName, engines, testMigratedPostgres } from './services/engines.ts';

export { type EngineName, engines };

/** The whole product in this process, on an engine of one's choice, reached through real sockets. */
export interface TestApp {
  readonly application: Application;
  readonly credentials: InstallationCredentials;
  readonly url: Readonly<Record<'dashboard' | 'portal' | 'gateway', string>>;
  readonly directory: string;
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** An organisation of its own with an active administrator, for tests about strangers. */
  stranger(): Promise<{ orgId: string; accessKey: string; userId: string }>;
  close(): Promise<void>;
}

export interface Asked {
  /** Sent as JSON; a text or bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Instead of the right credential of the surface; null sends none. */
  credential?: string | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON, whatever its shape; undefined when it is none. */
  readonly body: ReturnType<typeof JSON.parse>;
}

/** Who writes where a test calls the product's own functions: the gateway secret, which no owner stops. */
export const operatorActor: Actor = { surface: 'gateway', id: '', name: 'gateway secret', orgId: '', permissions: {} };

export interface AppOptions {
  settings?: Partial<Record<SettingName, string>>;
  clock?: Clock;
  threadProgram?: URL;
  /** Web app of the dashboard; by default browsers get the landing page. */
  webApp?: WebApp;
  /** Receives every log line of the main thread. */
  onLog?: (line: string) => void;
  /** Receives the log of the traffic threads, one or more lines at a time. */
  onTrafficLog?: (lines: string) => void;
}

/**
 * Lets the suites start and sign in often: what is verified is the same, and the cost is part of the hash. The default
 * cost is a quarter of the processor time of a start.
 */
export const lowPasswordCost = { N: 2, r: 1, p: 1 };

const logs = process.env.GW_TEST_LOGS;
/** `native` or `node`, to run the suite with each. */
const http1Engine = process.env.GW_TEST_HTTP1_ENGINE;
/** The run uses the adapters of node:http and undici. */
export const usesNodeEngine = http1Engine === 'node';

export async function startApp(engine: EngineName, options: AppOptions = {}): Promise<TestApp> {
  const directory = mkdtempSync(join(tmpdir(), 'gw-test-'));
  const database = engine === 'postgres' ? await testMigratedPostgres() : undefined;
  const settings = readSettings({
    flags: {
      data_dir: directory,
      'gateway.host': '127.0.0.1',
      'gateway.port': '0',
      'dashboard.port': '0',
      'portal.port': '0',
      'gateway.control_port': '0',
      threads: '1',
      'management.validate_responses': 'true',
      'management.max_auth_failures_per_minute': '0',
      'log.level': 'info',
      ...(http1Engine ? { 'gateway.http1_engine': http1Engine } : {}),
      // Upstreams and hooks of tests are on loopback, those of other organisations too.
      'tenants.grants': JSON.stringify({ networks: ['public', 'private', 'loopback'] }),
      ...(database ? { 'database.url': database.url } : {}),
      ...options.settings,
    },
  });
  const write = (line: string) => void (logs && appendFileSync(join(logs, `app-${process.pid}.log`), line));
  const writeLog = (line: string) => {
    write(line);
    options.onLog?.(line);
  };
  const log = createLog({ level: settings['log.level'], format: 'json', write: writeLog });
  const application = await startApplication(settings, {
    log,
    clock: options.clock ?? systemClock,
    threadProgram: options.threadProgram,
    webApp: options.webApp,
    passwordCost: lowPasswordCost,
    writeLog(lines) {
      write(lines);
      options.onTrafficLog?.(lines);
    },
  });
  application.installation.records.onChange(recordChange);
  const credentials = application.credentials!;
  rememberSecrets(credentials);
  const url = application.urls as TestApp['url'];
  const ask = createAsk(url, credentials);
  return {
    application,
    credentials,
    url,
    directory,
    ask,
    stranger: () => makeStranger(ask),
    async close() {
      await application.close();
      await database?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Runs the same promises on every engine. `app` may be used inside tests, not while they are declared. */
export function onEveryEngine(
  title: string,
  declare: (app: () => TestApp, engine: EngineName) => void,
  options: AppOptions = {},
): void {
  for (const engine of engines) {
    describe(`${title} (${engine})`, () => {
      let app: TestApp;
      before(async () => {
        app = await startApp(engine, options);
      });
      after(() => app?.close());
      declare(() => app, engine);
    });
  }
}

const defaultCredential = (credentials: InstallationCredentials): Record<SurfaceName, string> => ({
  dashboard: credentials.admin_access_key,
  admin: credentials.admin_secret,
  gateway: credentials.gateway_secret,
  portal: credentials.portal_token,
});

const surfaceNames = Object.keys(surfaces) as SurfaceName[];

export const surfaceOf = (path: string): SurfaceName | undefined =>
  surfaceNames.find(name => path === surfaces[name].prefix || path.startsWith(`${surfaces[name].prefix}/`));

export function createAsk(url: TestApp['url'], credentials: InstallationCredentials): TestApp['ask'] {
  return async (method, path, { body, headers = {}, credential } = {}) => {
    const surface = surfaceOf(path);
    const base = surface === 'portal' ? url.portal : url.dashboard;
    const given = credential === undefined && surface ? defaultCredential(credentials)[surface] : credential;
    const plain =
      typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData || body === undefined;
    const reply = await fetch(base + path, {
      method,
      headers: {
        ...(surface && given !== null ? { [surfaces[surface].credentialHeader]: given ?? '' } : {}),
        ...(plain ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: plain ? (body as RequestInit['body']) : JSON.stringify(body),
    });
    const text = await reply.text();
    const answer = { status: reply.status, headers: reply.headers, text, body: parseJson(text) };
    recordProblems({ ...answer, method, path });
    return answer;
  };
}

function parseJson(text: string): Answer['body'] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function makeStranger(ask: TestApp['ask']) {
  const { body: made } = await ask('POST', '/admin/organisations', {
    body: { owner_name: `Stranger ${createPublicId()}` },
  });
  const write = {
    org_id: made.Meta,
    email_address: `s${createPublicId()}@example.org`,
    first_name: 'S',
    last_name: 'T',
    active: true,
  };
  const { body: user } = await ask('POST', '/admin/users', { body: write });
  return { orgId: made.Meta as string, accessKey: user.Message as string, userId: user.Meta.id as string };
}

/** The run ends with a search for these in every log line; see tools/test.ts. */
export function rememberSecrets(secrets: object): void {
  if (!logs) return;
  const values = Object.entries(secrets).filter(([name]) => !/email|organisation/.test(name));
  writeFileSync(join(logs, `${createPublicId()}.secrets`), values.map(([, value]) => `${value}\n`).join(''));
}
