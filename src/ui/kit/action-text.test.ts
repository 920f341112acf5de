import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toActionText, toRefusalText } from './action-text.ts';

test('the name of an action becomes words, with names of the field in their spelling', () => {
  assert.equal(toActionText('createPolicy'), 'Create policy');
  assert.equal(toActionText('updateOasApi'), 'Update OpenAPI API');
  assert.equal(toActionText(''), '');
});

test('the code of a refusal becomes words', () => {
  assert.equal(toRefusalText('auth_field_missing'), 'Authentication field missing');
  assert.equal(toRefusalText('api_not_granted'), 'API not granted');
});
