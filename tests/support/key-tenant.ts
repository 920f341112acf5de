import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import type { Answer, TestApp } from './app.ts';

/** Rights of a key to APIs. */
export const rightsTo = (...ids: string[]) => ({
  access_rights: Object.fromEntries(ids.map(id => [id, { api_id: id }])),
});

export async function openKeyTenant(app: TestApp) {
  const { accessKey, orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
  const make = async (key: object = rightsTo('a1')) => {
    const { status, body, text } = await ask('POST', '/api/keys', key);
    assert.equal(status, 200, text);
    return body;
  };
  const policy = async (more: object = {}) => {
    const name = createPublicId();
    const { body, text } = await ask('POST', '/api/portal/policies', { id: name, name, ...rightsTo('a1'), ...more });
    assert.equal(body.Status, 'OK', text);
    return name;
  };
  return { orgId, accessKey, ask, make, policy };
}

export function expectKeyError(answer: Answer, status: number, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.Status, 'Error');
  assert.match(answer.body.Message, message);
}
