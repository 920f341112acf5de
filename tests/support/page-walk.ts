import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Person } from './browser.ts';
import { assertAccessible, assertContrast, type DashboardTest } from './dashboard-app.ts';
import type { PageList } from './dashboard-pages.ts';
import { addPageControls, assertKeyboardReach } from './page-keyboard.ts';
import { createLayerWalk } from './page-layers.ts';

export type { PageList };

const screenWidths = [360, 1280, 1920];
/** Of every page at three widths, for eyes: `GW_UI_SCREENSHOTS=1` prints the directory. */
const shots = process.env.GW_UI_SCREENSHOTS ? createShotDirectory() : undefined;
if (shots) console.log(`Screenshots: ${shots}`);
/** Of pages with a fault. */
let faultShots: string | undefined;

function createShotDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'gw-ui-'));
}

export async function settlePage(page: Page, heading: RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.waitForLoadState('networkidle');
}

async function photographPage(page: Page, directory: string, path: string, suffix: string): Promise<void> {
  const name = path.replaceAll(/[/?:=]/g, '_');
  for (const width of screenWidths) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: join(directory, `${name}-${suffix}-${width}.png`), fullPage: width < 1920 });
  }
}

type WalkDepth = 'look' | 'keyboard' | 'buttons';

interface WalkOptions {
  readonly pages: PageList;
  person(): Person;
  /** Path of an object that a hook created, for a path with a placeholder such as `:key`. */
  resolve?(path: string): string;
  /** `look`: axe and a narrow screen; `keyboard`: the Tab key and wide screens too; `buttons`: also what they open. */
  readonly depth?: WalkDepth;
}

/** Declares the test that opens each page of the dashboard. */
export const testPages = (dashboard: DashboardTest, { person, ...rest }: WalkOptions): void =>
  testEachPage({
    ...rest,
    open: () => dashboard.openAs(person(), '/'),
    origin: () => dashboard.app().url.dashboard,
  });

interface EachPageOptions extends Omit<WalkOptions, 'person'> {
  /** A page of a signed-in user, in the light theme, 1280 pixels wide. */
  open(): Promise<Page>;
  origin(): string;
}

/** The frame around the pages is the same on all of them: its buttons are pressed on the first of each app. */
const homePaths = ['/', '/admin'];
/** Many pages on a machine that does other things. */
export const walkTimeoutMs = 1_800_000;

const depthNames: Readonly<Record<WalkDepth, string>> = {
  look: 'each page is accessible, light and dark, and fits a screen of 360 pixels',
  keyboard: 'each page passes axe, keyboard and width checks',
  buttons: 'each page, and what its buttons open, passes axe, keyboard and width checks',
};

/** The same test for the pages of any app. Each page is loaded once: the dark theme differs by its colours. */
export function testEachPage(options: EachPageOptions): void {
  const { pages, open, origin, resolve = path => path, depth = 'look' } = options;
  test(depthNames[depth], { timeout: walkTimeoutMs }, async () => {
    const page = await open();
    const layers = depth === 'buttons' ? await createLayerWalk(page) : undefined;
    const faults: string[] = [];
    for (const [path, heading] of Object.entries(pages)) {
      const load = async () => {
        await page.goto(origin() + resolve(path));
        await settlePage(page, heading);
      };
      await load();
      faults.push(...(await checkPage(page, path, depth)));
      const scope = homePaths.includes(path) ? 'body' : 'main';
      faults.push(...((await layers?.pressEach(path, scope, load)) ?? []));
    }
    assert.deepEqual(faults, []);
  });
}

/** Faults of a page as it is: axe in both themes, keyboard, widths. Parts that were closed are open after it. */
export async function checkPage(page: Page, path: string, depth: WalkDepth = 'keyboard'): Promise<readonly string[]> {
  const faults: string[] = [];
  const collect = (check: Promise<void>) => check.catch((error: Error) => void faults.push(error.message));
  await collect(assertAccessible(page, path));
  if (depth !== 'look') {
    await addPageControls(page);
    if (await page.evaluate('pageControls.openDetails()'))
      await collect(assertAccessible(page, `${path}, details open`, "document.querySelector('main')"));
    await collect(assertKeyboardReach(page, path));
  }
  for (const width of depth === 'look' ? [360] : screenWidths) await collect(assertFits(page, path, width));
  if (shots) await photographPage(page, shots, path, 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await collect(assertContrast(page, `${path}, dark`));
  if (shots) await photographPage(page, shots, path, 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  if (faults.length > 0) {
    faultShots ??= createShotDirectory();
    await photographPage(page, faultShots, path, 'fault');
    faults.push(`${path}: screenshots are in ${faultShots}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  return faults;
}

async function assertFits(page: Page, path: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  const needed = await page.evaluate('document.documentElement.scrollWidth');
  assert.ok(Number(needed) <= width, `${path} needs ${needed} of ${width} pixels`);
}
