import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toActionText } from './action-text.ts';

test('the name of an action becomes words, with names of the field in their spelling', () => {
  assert.equal(toActionText('createPolicy'), 'Create policy');
  assert.equal(toActionText('updateOasApi'), 'Update OpenAPI API');
  assert.equal(toActionText(''), '');
});
