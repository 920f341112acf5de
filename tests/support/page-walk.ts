import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from './browser.ts';
import { assertAccessible, assertContrast, type DashboardTest } from './dashboard-app.ts';
import type { PageList } from './dashboard-pages.ts';

export type { PageList };

/** Of every page at three widths, for eyes: `GW_UI_SCREENSHOTS=1` prints the directory. */
const shots = process.env.GW_UI_SCREENSHOTS ? mkdtempSync(join(tmpdir(), 'gw-ui-')) : undefined;
if (shots) console.log(`Screenshots: ${shots}`);

export async function settlePage(page: Page, heading: RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.waitForLoadState('networkidle');
}

export async function photographPage(page: Page, path: string, suffix: string): Promise<void> {
  if (!shots) return;
  const name = path.replaceAll(/[/?:=]/g, '_');
  for (const width of [360, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: join(shots, `${name}-${suffix}-${width}.png`), fullPage: width < 1920 });
  }
}

interface WalkOptions {
  readonly pages: PageList;
  person(): Person;
  /** Path of an object that a hook created, for a path with a placeholder such as `:key`. */
  resolve?(path: string): string;
}

/** Declares the tests that open each page of the dashboard in both themes: axe, and a screen of 360 pixels. */
export const testPages = (dashboard: DashboardTest, { pages, person, resolve }: WalkOptions): void =>
  testEachPage({
    pages,
    ...(resolve ? { resolve } : {}),
    open: () => dashboard.openAs(person(), '/'),
    origin: () => dashboard.app().url.dashboard,
  });

interface EachPageOptions extends Pick<WalkOptions, 'pages' | 'resolve'> {
  /** A page of a signed-in user, in the light theme. */
  open(): Promise<Page>;
  origin(): string;
}

/** Many pages on a machine that does other things. */
const walkTimeoutMs = 600_000;

/** The same tests for the pages of any app. Each page is loaded once: the dark theme differs by its colours. */
export function testEachPage({ pages, open, origin, resolve = path => path }: EachPageOptions): void {
  test('each is accessible, light and dark, and fits a screen of 360 pixels', { timeout: walkTimeoutMs }, async () => {
    const page = await open();
    for (const [path, heading] of Object.entries(pages)) {
      await page.goto(origin() + resolve(path));
      await settlePage(page, heading);
      await assertAccessible(page, path);
      await assertFits(page, path);
      await photographPage(page, path, 'light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 1280, height: 900 });
      await assertContrast(page, `${path}, dark`);
      await photographPage(page, path, 'dark');
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });
}

async function assertFits(page: Page, path: string): Promise<void> {
  await page.setViewportSize({ width: 360, height: 900 });
  const width = await page.evaluate('document.documentElement.scrollWidth');
  assert.ok(Number(width) <= 360, `${path} is ${width} wide`);
}
