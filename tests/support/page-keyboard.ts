import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const controlsSource = readFileSync(new URL('page-controls.js', import.meta.url), 'utf8');
/** Keys sent before the page is asked whether the focus came round. */
const tabsAtOnce = 10;
/** More than the controls of any page. */
const maxTabs = 600;

/** Defines `pageControls` in the page, once for each document. */
export const addPageControls = (page: Page): Promise<unknown> =>
  page.evaluate(`globalThis.pageControls || ${controlsSource}`);

/** The Tab key reaches every visible control of the page, shows where the focus is, and comes round: no trap. */
export async function assertKeyboardReach(page: Page, name: string): Promise<void> {
  await addPageControls(page);
  await page.evaluate('pageControls.begin()');
  let unreached: unknown;
  // Another round sees controls that were replaced during the first.
  for (let round = 0; round < 2; round++) {
    await pressTabs(page, 'pageControls.isRound()', `${name}: the focus does not come round`);
    unreached = await page.evaluate('pageControls.listUnreached()');
    if ((unreached as []).length === 0) break;
  }
  const unmarked = await page.evaluate('pageControls.listUnmarked()');
  const mouseOnly = await page.evaluate('pageControls.listMouseOnly()');
  assert.deepEqual({ unreached, unmarked, mouseOnly }, { unreached: [], unmarked: [], mouseOnly: [] }, name);
}

/** The Tab key reaches every control of the layer, which keeps the focus. */
export async function assertLayerReach(page: Page, name: string): Promise<void> {
  await page.evaluate('pageControls.begin()');
  await pressTabs(page, 'pageControls.listUnreached(pageControls.layer()).length === 0', `${name}: not every control`);
  const isKept = await page.evaluate('pageControls.layer().contains(document.activeElement)');
  assert.ok(isKept, `${name}: the focus leaves what opened`);
}

async function pressTabs(page: Page, end: string, fault: string): Promise<void> {
  await page.evaluate('pageControls.beginRound()');
  for (let tabs = 0; tabs < maxTabs; tabs += tabsAtOnce) {
    if (await page.evaluate(end)) return;
    await Promise.all(Array.from({ length: tabsAtOnce }, () => page.keyboard.press('Tab')));
  }
  const focused = await page.evaluate('document.activeElement?.outerHTML.slice(0, 200)');
  const unreached = await page.evaluate('pageControls.listUnreached()');
  assert.fail(`${fault}, it is on ${String(focused)}, not on ${String(unreached)}`);
}
