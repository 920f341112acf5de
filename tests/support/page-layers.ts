import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import { assertAccessible } from './dashboard-app.ts';
import { addPageControls, assertLayerReach } from './page-keyboard.ts';

/** More than the buttons of any page. */
const maxButtons = 80;
/** A layer closes within some; a busy machine draws few in a second. */
const maxFrames = 300;
const layer = 'pageControls.layer()';
const draw = 'new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

export interface LayerWalk {
  /** Presses each button; returns the faults of what opens. `scope`: selector of the part with the buttons. */
  pressEach(name: string, scope: string, reopen: () => Promise<void>): Promise<readonly string[]>;
}

interface FoundButton {
  readonly name: string;
  /** The same on pages that share the button. */
  readonly key: string;
  readonly isMenu: boolean;
}

/**
 * Presses the buttons of pages by keyboard. Requests that write lose their CSRF token on the way: the server refuses
 * them, so that a page can be explored without a change. A dialog or menu that opens has to be accessible, to hold the
 * focus, to close with Escape, and to return the focus to its button.
 */
export async function createLayerWalk(page: Page): Promise<LayerWalk> {
  await refuseWrites(page);
  page.on('popup', popup => void popup.close());
  const waitForIdle = trackRequests(page);
  // Views of an object share the buttons of its head, and its page the menu of its row in the list.
  const doneHeads: string[] = [];
  const doneByPath = new Map<string, string[]>();
  const doneItems = new Set<string>();

  async function checkLayer(name: string): Promise<void> {
    await assertAccessible(page, name, layer);
    const hasFocus = await page.evaluate(`${layer}.contains(document.activeElement)`);
    assert.ok(hasFocus, `${name}: the focus is outside of what opened`);
    const isMenu = await page.evaluate(`${layer}.matches('[role=menu]')`);
    if (!isMenu) await assertLayerReach(page, name);
    await closeLayer(name);
  }
  async function closeLayer(name: string): Promise<void> {
    await page.keyboard.press('Escape');
    await waitFor(page, `!${layer}`, `${name}: Escape does not close it`);
    const isReturned = 'document.activeElement === pageControls.origin || !pageControls.origin.isConnected';
    await waitFor(page, isReturned, `${name}: the focus does not return`);
  }
  const hasLayer = async () => (await page.evaluate(`${layer} !== undefined`)) === true;

  async function pressOne(scope: string, { name, isMenu }: FoundButton, reopen: () => Promise<void>): Promise<void> {
    const url = page.url();
    const finish = async (what: string) => {
      await waitForIdle();
      if (page.url() !== url) return reopen();
      await addPageControls(page);
      if (await hasLayer()) await checkLayer(what);
    };
    await page.keyboard.press('Enter');
    if (!isMenu) return finish(name);
    await page.locator('[role=menu]').waitFor();
    const items = (await page.evaluate('pageControls.listItems()')) as readonly string[];
    await checkLayer(name);
    for (const item of items.filter(it => !doneItems.has(`${name} > ${it}`))) {
      doneItems.add(`${name} > ${item}`);
      await addPageControls(page);
      await page.evaluate(`pageControls.focusNamed(${JSON.stringify(scope)}, ${JSON.stringify(name)})`);
      await page.keyboard.press('Enter');
      await page.locator('[role=menu]').waitFor();
      await page.evaluate(`pageControls.focusItem(${JSON.stringify(item)})`);
      await page.keyboard.press('Enter');
      await finish(`${name} > ${item}`);
    }
  }

  return {
    async pressEach(path, scope, reopen) {
      const faults: string[] = [];
      const object = path.split('?')[0]!;
      const done = doneByPath.get(object) ?? [];
      doneByPath.set(object, done);
      for (let pressed = 0; pressed < maxButtons; pressed++) {
        await addPageControls(page);
        const given = `${JSON.stringify(scope)}, ${JSON.stringify([...done, ...doneHeads])}`;
        const found = (await page.evaluate(`pageControls.focusNext(${given})`)) as FoundButton | undefined;
        if (!found) break;
        (found.key === found.name ? done : doneHeads).push(found.key);
        try {
          await pressOne(scope, found, reopen);
        } catch (error) {
          faults.push(`${path}, ${found.name}: ${(error as Error).message}`);
          await reopen();
        }
      }
      return faults;
    },
  };
}

/** Polled by the debugger: the content policy refuses the `eval` of a condition inside of the page. */
async function waitFor(page: Page, condition: string, fault: string): Promise<void> {
  for (let frames = 0; frames < maxFrames; frames++) {
    if (await page.evaluate(condition)) return;
    await page.evaluate(draw);
  }
  assert.fail(fault);
}

/**
 * The server refuses a write of a session without its token, and a form without its fields. Only requests of scripts
 * and for documents are intercepted: files of the app come from the cache.
 */
async function refuseWrites(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on('Fetch.requestPaused', ({ requestId, request: { method, headers } }) => {
    const isRead = ['GET', 'HEAD'].includes(method);
    const isForm = Object.entries(headers).some(
      ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('application/x-www-form-urlencoded'),
    );
    const kept = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'x-csrf-token');
    const changed = { headers: kept.map(([name, value]) => ({ name, value })), ...(isForm ? { postData: '' } : {}) };
    // Navigation cancels paused requests.
    session.send('Fetch.continueRequest', { requestId, ...(isRead ? {} : changed) }).catch(() => {});
  });
  const types = ['Document', 'Fetch', 'XHR'] as const;
  await session.send('Fetch.enable', { patterns: types.map(resourceType => ({ resourceType })) });
}

/** Waits until no request runs and the page has drawn what they brought. Event streams do not end. */
function trackRequests(page: Page): () => Promise<void> {
  const running = new Set<Request>();
  let wake = () => {};
  const remove = (request: Request) => {
    running.delete(request);
    wake();
  };
  page.on('request', it => void (it.resourceType() !== 'eventsource' && running.add(it)));
  page.on('requestfinished', remove);
  page.on('requestfailed', remove);
  const settle = async () => {
    await page.waitForLoadState();
    await page.evaluate(draw);
  };
  return async () => {
    // A button may lead to another document, which ends what runs in this one.
    await settle().catch(settle);
    while (running.size > 0) {
      await new Promise<void>(resolve => {
        wake = resolve;
      });
      await settle().catch(settle);
    }
  };
}
