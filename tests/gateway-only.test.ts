import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { walkOf } from './support/doc-commands.ts';
import { scratch, startChild } from './support/gw-process.ts';

const page = walkOf('docs/guide/gateway-only.md');
const { fresh, remove } = scratch('gateway-only');
after(remove);

test('the guide to the role gateway works as documented', async () => {
  assert.ok(page.promised.length >= 20);
  const directory = fresh();
  const gateway = await startChild({ directory, args: ['--role', 'gateway'] });
  assert.deepEqual(Object.keys(gateway.urls).sort(), ['control', 'gateway']);
  await page.run({ CONTROL: gateway.urls.control!, GATEWAY: gateway.urls.gateway!, DATA: directory });
  const { body: left } = await gateway.ask('GET', '/gw/policies');
  assert.deepEqual(left, []);
  assert.equal((await gateway.stop()).code, 0);
});
