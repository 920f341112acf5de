import { after, before, describe } from 'node:test';
import { createAsk, type EngineName, engines, startApp, type TestApp } from './app.ts';
import { sharedProductVariable } from './services/shared-products.ts';

/** A product that other test files use at the same time. */
export type SharedApp = Pick<TestApp, 'url' | 'credentials' | 'ask'>;

/**
 * The product that `npm test` started for suites that only read, or send what is refused: `npm test` fails when its
 * configuration changes. A file that is run by hand starts its own.
 */
export function useSharedApp(engine: EngineName = 'sqlite'): () => SharedApp {
  let app: SharedApp;
  let close: () => Promise<void> = async () => undefined;
  before(async () => {
    const access = process.env[sharedProductVariable(engine)];
    if (access) {
      const { url, credentials } = JSON.parse(access) as SharedApp;
      app = { url, credentials, ask: createAsk(url, credentials) };
      return;
    }
    const own = await startApp(engine);
    app = own;
    close = () => own.close();
  });
  after(() => close());
  return () => app;
}

/** Runs the same tests on every engine, each with its shared product. */
export function onEverySharedEngine(title: string, declare: (app: () => SharedApp) => void): void {
  for (const engine of engines) describe(`${title} (${engine})`, () => declare(useSharedApp(engine)));
}
