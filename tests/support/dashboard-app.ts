import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { BrowserContext, Browser as Chromium, Page } from 'playwright-core';
import { hashWebAppSources, installedBuilds } from '#operations/web-app/location.ts';
import { createWebApp } from '#operations/web-app/web-app.ts';
import { buildApps } from '#ui/build/build-apps.ts';
import { type AppOptions, startApp, type TestApp } from './app.ts';
import { addPerson, type Person } from './browser.ts';
import { launchChromium, openWatchedPage } from './chromium.ts';

/**
 * The dashboard in Chromium, against the whole product. Every page that a test opens fails it for an error of the
 * console or of a script, a violation of the content policy, or a request to another host.
 */
export interface DashboardTest {
  app(): TestApp;
  /** A page of a user who signed in on the server: pages open without the form. */
  openAs(person: Person, path: string, options?: { width?: number; dark?: boolean }): Promise<Page>;
  openAnonymous(path: string): Promise<Page>;
  addPerson(more?: Record<string, unknown>): Promise<Person>;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface DashboardOptions extends AppOptions {
  /** Another origin that pages lead to, such as that of an identity provider. */
  allowsOrigin?(origin: string): boolean;
}

export function testDashboard({ allowsOrigin = () => false, ...options }: DashboardOptions = {}): DashboardTest {
  let app: TestApp;
  let browser: Chromium;
  const errors: string[] = [];
  before(async () => {
    await buildApps(join(installedBuilds, hashWebAppSources()));
    const webApp = createWebApp({ directories: [installedBuilds], hashSources: hashWebAppSources });
    [app, browser] = await Promise.all([startApp('sqlite', { webApp, ...options }), launchChromium()]);
  });
  after(async () => {
    await browser?.close();
    await app?.close();
    assert.deepEqual(errors, [], 'errors of pages');
  });

  async function openPage(context: BrowserContext, path: string): Promise<Page> {
    const isAllowed = (origin: string) => origin === app.url.dashboard || allowsOrigin(origin);
    const page = await openWatchedPage(context, errors, isAllowed);
    await page.goto(app.url.dashboard + path);
    return page;
  }
  const newContext = ({ width = 1280, dark = false } = {}) =>
    browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });

  return {
    app: () => app,
    async openAs({ username, password }, path, more = {}) {
      const context = await newContext(more);
      const response = await context.request.post(`${app.url.dashboard}/api/session`, { data: { username, password } });
      assert.equal(response.status(), 200, await response.text());
      return openPage(context, path);
    },
    openAnonymous: async path => openPage(await newContext(), path),
    addPerson: more => addPerson(app, more),
  };
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/**
 * No serious or critical finding of axe (WCAG 2.2 AA and best practices), in the page or in the element of an
 * expression. The script is injected by the debugger.
 */
export async function assertAccessible(page: Page, name: string, root = 'document'): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource);
  await assertRules(page, name, root, {});
}

/** No finding of contrast, on a page that `assertAccessible` has seen in another theme. */
export const assertContrast = (page: Page, name: string, root = 'document'): Promise<void> =>
  assertRules(page, name, root, { runOnly: ['color-contrast'] });

interface AxeOptions {
  readonly runOnly?: readonly string[];
}

async function assertRules(page: Page, name: string, root: string, options: AxeOptions): Promise<void> {
  const given = JSON.stringify({ resultTypes: ['violations'], ...options });
  const { violations } = (await page.evaluate(`axe.run(${root}, ${given})`)) as AxeResult;
  const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  const lines = serious.flatMap(({ id, nodes }) => nodes.map(it => `${id}: ${it.html}\n  ${it.failureSummary}`));
  assert.deepEqual(lines, [], name);
}

/** Another look at the window: results older than two seconds are read again. */
export async function readAgain(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.fastForward(5000);
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
}
