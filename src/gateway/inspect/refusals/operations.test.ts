import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import { refusalsTable } from '../../pipeline/refusals-table.ts';

onEveryEngine('Meaning of refusals', app => {
  test('every code has its status and a sentence, for each signed-in user and for no one else', async () => {
    const { accessKey } = await addPerson(app(), { user_permissions: { log: 'read' } });
    const { status, body } = await app().ask('GET', '/api/refusals', { credential: accessKey });
    assert.equal(status, 200);
    const codes = body.refusals.map(({ code }: { code: string }) => code);
    assert.deepEqual(codes, Object.keys(refusalsTable));
    const { about, ...rate } = body.refusals.find(({ code }: { code: string }) => code === 'rate_exceeded');
    assert.deepEqual(rate, { code: 'rate_exceeded', status: 429, message: refusalsTable.rate_exceeded.message });
    assert.match(about, /\w.*\.$/);
    assert.equal((await app().ask('GET', '/api/refusals', { credential: null })).status, 401);
  });
});
