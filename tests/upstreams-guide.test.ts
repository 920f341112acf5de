import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const guide = walkOf('docs/guide/upstreams.md');

describe('Guide to upstreams', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
    upstream.answer = ({ url = '' }, response) => {
      if (url === '/registry') response.end(JSON.stringify([{ Address: '127.0.0.1', ServicePort: upstream.port }]));
      else response.writeHead(Number(url.split('/').at(-1))).end();
    };
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  test('works as documented', async () => {
    assert.equal(guide.promised.length, 8);
    const { dashboard: DASHBOARD, gateway: GATEWAY } = app.url;
    await guide.run({ DASHBOARD, GATEWAY, DATA: app.directory, UPSTREAM: upstream.url });
  });
});
