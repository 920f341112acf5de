import { after } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumProgram } from '../../tools/services.ts';

/** A browser for one test file. Its pages collect errors: messages of the console, of scripts and of the content policy. */
export interface TestChromium {
  open(url: string, options?: { javaScriptEnabled?: boolean }): Promise<{ page: Page; errors: string[] }>;
}

export function testChromium(): TestChromium {
  let browser: Promise<Browser> | undefined;
  after(async () => (await browser)?.close());
  return {
    async open(url, options = {}) {
      browser ??= chromium.launch({ executablePath: chromiumProgram(), args: ['--no-sandbox'] });
      const page = await (await browser).newPage(options);
      const errors: string[] = [];
      page.on('console', message => message.type() === 'error' && errors.push(message.text()));
      page.on('pageerror', error => errors.push(error.message));
      await page.goto(url);
      return { page, errors };
    },
  };
}
