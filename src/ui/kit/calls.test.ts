import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallError, nameFields } from './calls.ts';

test('a message of the server names fields by their labels, and leaves other texts as they are', () => {
  assert.equal(
    nameFields('email_address: is taken; first_name: is required'),
    'E-mail address: is taken; First name: is required',
  );
  for (const text of ['constructor: is none', 'access_rights.orders: is unknown', 'It failed: name: x'])
    assert.equal(nameFields(text), text);
  assert.equal(new CallError(400, { Message: 'target_path: must be absolute' }, null).message, 'URL: must be absolute');
});
