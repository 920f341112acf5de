import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { createPortalFileStore } from './store.ts';

onEveryEngine('portal file store', app => {
  const files = () => createPortalFileStore(app().application.installation.records);
  const file = (text: string) => ({ mediaType: 'text/plain', bytes: Buffer.from(text) });

  test('a file replaces the one in its slot, and is removed once', async () => {
    await files().put('a/1', 's', file('one'), 1);
    await files().put('a/1', 's', file('two\0\xff'), 2);
    assert.deepEqual(await files().find('a/1', 's'), file('two\0\xff'));
    assert.equal(await files().find('a/1', 't'), undefined);
    assert.deepEqual([await files().remove('a/1', 's'), await files().remove('a/1', 's')], [true, false]);
  });

  test('removal of an owner removes what is below it, and no owner with a similar name', async () => {
    for (const owner of ['b/1', 'b/1/x', 'b/1/x/y', 'b/10', 'b/1_', 'b/2', 'b'])
      await files().put(owner, 's', file(owner), 1);
    await files().removeAll('b/1');
    const left = [];
    for (const owner of ['b/1', 'b/1/x', 'b/1/x/y', 'b/10', 'b/1_', 'b/2', 'b'])
      if ((await files().listSlots(owner)).length > 0) left.push(owner);
    assert.deepEqual(left, ['b/10', 'b/1_', 'b/2', 'b']);
  });
});
