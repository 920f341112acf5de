import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { chromiumProgram } from './services.ts';

/** Pictures of the dashboard with the data of the demo: `npm run screenshots -- --page /apis --page /logs`. */
const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    page: { type: 'string', multiple: true },
    /** Widths in pixels, 360, 1280 and 1920 by default. */
    width: { type: 'string', multiple: true },
    /** light or dark; both by default. */
    theme: { type: 'string', multiple: true },
    output: { type: 'string', default: join(root, 'screenshots') },
    /** Data directory of a demo that runs already. */
    'data-dir': { type: 'string' },
  },
});

/** The API with endpoints, a key limit and traffic, of `gw start --demo`. */
const sampleApi = '/apis/demo-orders';
const defaultPages = [
  '/',
  '/welcome',
  '/apis',
  '/apis/new',
  '/apis/import',
  sampleApi,
  ...['settings', 'endpoints', 'try', 'versions', 'consumers', 'code', 'history'].map(tab => `${sampleApi}/${tab}`),
  '/data-graphs',
  '/mcp-proxies',
  '/templates',
  '/examples',
  '/policies',
  '/policies/new',
  '/keys',
  '/keys/new',
  '/oauth-clients',
  '/certificates',
  '/webhooks',
  '/deliveries',
  '/analytics',
  '/logs',
  '/uptime',
  '/users',
  '/user-groups',
  '/sign-on',
  '/system',
  '/audit',
  '/settings',
  '/profile',
];
const widths = values.width?.map(Number) ?? [360, 1280, 1920];
const themes = (values.theme ?? ['light', 'dark']) as ('light' | 'dark')[];
/** From here a picture has the height of a screen. */
const fullPageWidth = 1920;
const startTimeoutMs = 300_000;
const buildTimeoutMs = 300_000;

interface Demo {
  readonly directory: string;
  readonly process: ChildProcess;
}

/** Starts the demo on free ports. */
function startDemo(): Demo {
  const directory = mkdtempSync(join(tmpdir(), 'gw-screenshots-'));
  const ports = ['GATEWAY', 'DASHBOARD', 'PORTAL', 'GATEWAY_CONTROL'].map(name => [`GW_${name}_PORT`, '0']);
  const env = { ...process.env, ...Object.fromEntries(ports), GW_THREADS: '1', GW_DATA_DIR: directory };
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  return {
    directory,
    process: spawn(process.execPath, [join(root, 'src/main.ts'), 'start', '--demo'], { env, stdio }),
  };
}

/** Waits for the line that names the credentials. */
async function waitUntilReady({ process: child }: Demo): Promise<void> {
  const timeout = AbortSignal.timeout(startTimeoutMs);
  const lines = createInterface({ input: child.stdout!, signal: timeout });
  for await (const line of lines) if (line.includes('credentials.json')) break;
  // What follows is not read, but must not fill the pipe.
  child.stdout!.resume();
  if (timeout.aborted || child.exitCode !== null) throw new Error('the demo did not start');
}

async function stopDemo({ directory, process: child }: Demo): Promise<void> {
  if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'close');
  rmSync(directory, { recursive: true, force: true });
}

const readJson = (directory: string, file: string) =>
  JSON.parse(readFileSync(join(directory, file), 'utf8')) as Record<string, string>;

/** Takes each page at each width in one theme, whole on narrow screens. */
async function takeTheme(browser: Browser, directory: string, theme: 'light' | 'dark'): Promise<void> {
  const { dashboard: address } = readJson(directory, 'listening.json');
  const { admin_email: username, admin_password: password } = readJson(directory, 'credentials.json');
  const context = await browser.newContext({ colorScheme: theme, reducedMotion: 'reduce' });
  const signIn = await context.request.post(`${address}/api/session`, { data: { username, password } });
  if (!signIn.ok()) throw new Error(`sign-in: ${signIn.status()} ${await signIn.text()}`);
  const page = await context.newPage();
  // The page of an app that is still being built has a navigation too, and reloads itself.
  await page.goto(address!);
  await page.locator('#app').getByRole('navigation').first().waitFor({ timeout: buildTimeoutMs });
  for (const path of values.page ?? defaultPages)
    for (const width of widths) {
      await page.setViewportSize({ width, height: Math.max(900, Math.round(width * 0.5625)) });
      await page.goto(address + path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => undefined);
      const name = path === '/' ? 'home' : path.slice(1).replaceAll(/[^a-z0-9-]+/gi, '_');
      const file = join(values.output, `${name}-${theme}-${width}.png`);
      await page.screenshot({ path: file, fullPage: width < fullPageWidth });
      console.log(file);
    }
  await context.close();
}

async function takeAll(directory: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: chromiumProgram(), args: ['--no-sandbox'] });
  try {
    mkdirSync(values.output, { recursive: true });
    for (const theme of themes) await takeTheme(browser, directory, theme);
  } finally {
    await browser.close();
  }
}

const running = values['data-dir'];
if (running === undefined) {
  const demo = startDemo();
  try {
    await waitUntilReady(demo);
    await takeAll(demo.directory);
  } finally {
    await stopDemo(demo);
  }
} else await takeAll(running);
