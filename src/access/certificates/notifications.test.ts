import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';

const dayMs = 86_400_000;

onEveryEngine('notifications', app => {
  test('certificates that expire soon are listed for their organisation, earliest first, with stable ids', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const nowMs = Date.now();
    const upload = async (name: string, days: number) => {
      const { certPem } = makeAuthority(name, { notAfter: new Date(nowMs + (days + 0.5) * dayMs) });
      const { status, body, text } = await app().ask('POST', '/api/certs', { credential, body: certPem });
      assert.equal(status, 200, text);
      return body.id as string;
    };
    const warning = await upload('Warning', 20);
    const critical = await upload('Critical', 3);
    await upload('Far ahead', 300);
    const read = async (query = '') => (await app().ask('GET', `/api/org/notifications${query}`, { credential })).body;
    const list = await read();
    assert.deepEqual(
      list.map((it: Record<string, unknown>) => [it.kind, it.topic, it.org_id, it.title]),
      [
        ['critical', 'certificate.expiry', orgId, 'Certificate is expiring soon'],
        ['warning', 'certificate.expiry', orgId, 'Certificate is expiring soon'],
      ],
    );
    assert.deepEqual(
      list.map((it: { data: Record<string, unknown> }) => [it.data.cert_id, it.data.days_remaining]),
      [
        [critical, 3],
        [warning, 20],
      ],
    );
    assert.match(list[0].message, /^Critical expires on /);
    assert.match(list[0].id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(Date.parse(list[1].created_at) <= nowMs);
    assert.deepEqual(await read('?refresh=true'), list);
    const { body: own } = await app().ask('GET', '/api/org/notifications');
    assert.deepEqual(own, []);
  });

  test('notifications need websockets: read, and nothing more', async () => {
    const { orgId } = await app().stranger();
    const person = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B' };
    const user = { ...person, org_id: orgId, active: true, user_permissions: { websockets: 'read' } };
    const { body } = await app().ask('POST', '/admin/users', { body: user });
    assert.equal((await app().ask('GET', '/api/org/notifications', { credential: body.Message })).status, 200);
  });
});
