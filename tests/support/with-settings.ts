import { after, before, describe } from 'node:test';
import type { SettingName } from '#base/settings.ts';
import { startApp, type TestApp } from './app.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** An installation with these settings and an upstream behind it, for the tests declared inside. */
export function withSettings(
  title: string,
  settings: Partial<Record<SettingName, string>>,
  declare: (app: () => TestApp, upstream: () => Upstream) => void,
): void {
  describe(title, () => {
    let app: TestApp;
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
      app = await startApp('sqlite', { settings });
    });
    after(async () => {
      await app?.close();
      await upstream?.close();
    });
    declare(
      () => app,
      () => upstream,
    );
  });
}
