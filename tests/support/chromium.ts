import { after } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumProgram } from '../../tools/services.ts';

/** Chromium that knows no host but this machine. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumProgram(),
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
  });

/** Statuses that Chromium reports by itself: what the page does about them is tested. */
const isStatusNotice = (text: string) =>
  /^Failed to load resource: the server responded with a status of 4\d\d/.test(text);

/**
 * A page that adds to `errors` each message of the console, of scripts and of the content policy, and each request to
 * an origin that is not allowed. Requests are watched, not intercepted: interception would turn off the cache, and each
 * page would compile the whole app again.
 */
export async function openWatchedPage(
  context: BrowserContext,
  errors: string[],
  isAllowed: (origin: string) => boolean,
): Promise<Page> {
  const page = await context.newPage();
  const report = (text: string) => void (isStatusNotice(text) || errors.push(`${page.url()}: ${text}`));
  page.on('console', message => message.type() === 'error' && report(message.text()));
  page.on('pageerror', error => report(error.message));
  context.on('request', request => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !isAllowed(origin)) report(`request to another host: ${request.url()}`);
  });
  return page;
}

/** A browser for one test file. Its pages collect errors: messages of the console, of scripts and of the content policy. */
export interface TestChromium {
  open(url: string, options?: { javaScriptEnabled?: boolean }): Promise<{ page: Page; errors: string[] }>;
}

export function testChromium(): TestChromium {
  let browser: Promise<Browser> | undefined;
  after(async () => (await browser)?.close());
  return {
    async open(url, options = {}) {
      browser ??= launchChromium();
      const page = await (await browser).newPage(options);
      const errors: string[] = [];
      page.on('console', message => message.type() === 'error' && errors.push(message.text()));
      page.on('pageerror', error => errors.push(error.message));
      await page.goto(url);
      return { page, errors };
    },
  };
}
