import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problem as people } from './problems.ts';
import { problem as signIn } from './sessions/problems.ts';
import { problem as signOn } from './single-sign-on/problems.ts';

for (const [name, table] of Object.entries({ people, signIn, signOn }))
  describe(`Problems of ${name}`, () => {
    const all = Object.values(table);

    test('every problem has the status of a client or server error, and a code of small letters', () => {
      for (const { code, status } of all) {
        assert.ok(status >= 400 && status <= 599, code);
        assert.match(code, /^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/);
      }
    });

    test('no two problems have one message', () => {
      assert.deepEqual(
        all.filter((it, index) => all.findIndex(other => other.message === it.message) !== index).map(it => it.code),
        [],
      );
    });
  });
