import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';

onEveryEngine(
  'Password policy of dashboard users',
  app => {
    test('a new password has to satisfy every rule of the settings, on every way to set one', async () => {
      const { id } = await addPerson(app());
      const set = (password: string) => app().ask('PUT', `/admin/users/${id}`, { body: { password } });
      const broken = {
        'aB1!xy': /at least 8 characters/,
        'small9!letters': /both upper and lower case/,
        'NoDigits!here': /at least 2 digits/,
        NoSpecials97: /at least 1 special/,
        'Three111!in': /three consecutive or equal/,
      };
      for (const [password, fault] of Object.entries(broken)) {
        const answer = await set(password);
        assert.equal(answer.status, 400, password);
        assert.match(answer.body.Message, fault);
      }
      const reset = await app().ask('POST', `/api/users/${id}/actions/reset`, { body: { new_password: 'short' } });
      assert.equal(reset.status, 400);
      assert.equal((await set('Good9!words7')).status, 200);
    });
  },
  {
    settings: {
      'users.password_min_length': '8',
      'users.password_multi_case': 'true',
      'users.password_min_numeric': '2',
      'users.password_min_special': '1',
      'users.password_disable_sequential': 'true',
    },
  },
);
