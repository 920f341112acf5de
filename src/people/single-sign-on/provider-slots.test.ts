import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProviderSlots } from './provider-slots.ts';

test('an organisation has a number of slots, which are free again after success and failure', async () => {
  const slots = createProviderSlots(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  const running = [slots.run('a', () => promise), slots.run('a', () => promise)];
  await assert.rejects(
    slots.run('a', async () => assert.fail('was run')),
    /Too many sign-ons/,
  );
  assert.equal(await slots.run('b', async () => 'b'), 'b');
  resolve();
  await Promise.all(running);
  for (let index = 0; index < 3; index++)
    await assert.rejects(
      slots.run('a', async () => {
        throw new Error('failed');
      }),
      /failed/,
    );
  assert.equal(await slots.run('a', async () => 'a'), 'a');
});
