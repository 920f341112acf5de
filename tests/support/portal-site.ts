import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { BrowserContext, Browser as Chromium, Page } from 'playwright-core';
import { hashPassword } from '#base/passwords.ts';
import { type AppOptions, lowPasswordCost, startApp, type TestApp } from './app.ts';
import { launchChromium, openWatchedPage } from './chromium.ts';
import { addDeveloper } from './portal.ts';

/**
 * The site of the portal in Chromium, against the whole product. Every page that a test opens fails it for an error of
 * the console or of a script, a violation of the content policy, or a request to another host.
 */
export interface PortalSiteTest {
  app(): TestApp;
  open(path: string, options?: PageOptions): Promise<Page>;
  /** A page of a new context in which the developer has signed in by the form. */
  openAs(developer: Developer, path: string, options?: PageOptions): Promise<Page>;
}

export interface Developer {
  readonly ID: number;
  readonly Email: string;
  readonly Password: string;
}

interface PageOptions {
  readonly width?: number;
  readonly dark?: boolean;
  readonly withoutScript?: boolean;
}

export const sitePassword = 'correct horse battery staple';

/** An active developer with a password, which costs little to verify. */
export async function addSiteDeveloper(app: TestApp, more: Record<string, unknown> = {}): Promise<Developer> {
  const created = await addDeveloper(app, { Password: sitePassword, ...more });
  const Password = await hashPassword(sitePassword, lowPasswordCost);
  await app.application.installation.services.portal.users.change(created.ID, user => ({ ...user, Password }));
  return { ID: created.ID, Email: created.Email, Password: sitePassword };
}

export async function signInBySite(page: Page, { Email, Password }: Pick<Developer, 'Email' | 'Password'>) {
  await page.getByLabel('E-mail address').fill(Email);
  await page.getByLabel('Password', { exact: true }).fill(Password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** `listOrigins`: other origins that pages may open, such as one of an identity provider. */
export function testPortalSite(
  options: AppOptions = {},
  listOrigins: () => readonly string[] = () => [],
): PortalSiteTest {
  let app: TestApp;
  let browser: Chromium;
  const errors: string[] = [];
  before(async () => {
    [app, browser] = await Promise.all([startApp('sqlite', options), launchChromium()]);
  });
  after(async () => {
    await browser?.close();
    await app?.close();
    assert.deepEqual(errors, [], 'errors of pages');
  });

  async function openPage(context: BrowserContext, path: string): Promise<Page> {
    const isAllowed = (origin: string) => [app.url.portal, ...listOrigins()].includes(origin);
    const page = await openWatchedPage(context, errors, isAllowed);
    await page.goto(app.url.portal + path);
    return page;
  }
  const newContext = ({ width = 1280, dark = false, withoutScript = false }: PageOptions = {}) =>
    browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      javaScriptEnabled: !withoutScript,
      permissions: ['clipboard-read', 'clipboard-write'],
    });

  return {
    app: () => app,
    open: async (path, more) => openPage(await newContext(more), path),
    async openAs(developer, path, more) {
      const page = await openPage(await newContext(more), `/auth/password/login?next=${encodeURIComponent(path)}`);
      await signInBySite(page, developer);
      await page.waitForURL(url => !url.pathname.startsWith('/auth/'));
      return page;
    },
  };
}
