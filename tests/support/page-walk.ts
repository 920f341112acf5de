import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from './browser.ts';
import { assertAccessible, type DashboardTest } from './dashboard-app.ts';

/** Paths with the first-level heading that their page has. */
export type PageList = Readonly<Record<string, RegExp>>;

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

/** Declares the tests that open each page in both themes: axe, and a screen of 360 pixels. */
export function testPages(dashboard: DashboardTest, { pages, person, resolve = path => path }: WalkOptions): void {
  for (const dark of [false, true])
    test(`each is accessible and fits a screen of 360 pixels, ${dark ? 'dark' : 'light'}`, async () => {
      const page = await dashboard.openAs(person(), '/', { dark });
      for (const [path, heading] of Object.entries(pages)) {
        await page.goto(dashboard.app().url.dashboard + resolve(path));
        await settlePage(page, heading);
        await assertAccessible(page, path);
        await page.setViewportSize({ width: 360, height: 900 });
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(width) <= 360, `${path} is ${width} wide`);
        await photographPage(page, path, dark ? 'dark' : 'light');
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    });
}
