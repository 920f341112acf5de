import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { redactedText } from '#base/redaction.ts';
import { toRuleInput } from './input.ts';

describe('Input of organisation rules', () => {
  const actor = {
    surface: 'dashboard',
    id: 'u',
    name: 'ann@example.org',
    orgId: 'o',
    permissions: { apis: 'read' },
  } as const;
  const request = { operation: 'createHook', method: 'POST', path: '/api/hooks', query: { p: '1' } } as const;
  const bodyOf = (body: unknown) => toRuleInput(actor, { ...request, body }).request.body;

  test('input has the user and the request, and the group where the user has one', () => {
    const user = { id: 'u', email_address: 'ann@example.org', org_id: 'o', user_permissions: { apis: 'read' } };
    assert.deepEqual(toRuleInput(actor, { ...request, body: undefined }), {
      user: { ...user, group_id: '', group_ids: [] },
      request: { ...request, intent: 'write' },
    });
    assert.equal(toRuleInput({ ...actor, groupIds: ['g'] }, { ...request, body: undefined }).user.group_id, 'g');
  });

  test('the intent follows from the method', () => {
    const intentOf = (method: 'GET' | 'DELETE' | 'PUT') =>
      toRuleInput(actor, { ...request, method, body: undefined }).request.intent;
    assert.deepEqual([intentOf('GET'), intentOf('DELETE'), intentOf('PUT')], ['read', 'delete', 'write']);
  });

  test('secrets of the body are masked at every depth; other values, also empty and null, are not', () => {
    const masked = { password: 'x', list: [{ client_secret: 'y', name: 'z' }], access_key: '', token: 7, none: null };
    assert.deepEqual(bodyOf(masked), {
      ...masked,
      password: redactedText,
      list: [{ client_secret: redactedText, name: 'z' }],
    });
    assert.deepEqual(bodyOf({ secrets: { a: 'b' } }), { secrets: { a: 'b' } });
    assert.deepEqual([bodyOf(null), bodyOf('text'), bodyOf([1])], [null, 'text', [1]]);
  });
});
