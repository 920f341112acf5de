import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { eventHandlerList } from '#definition/facets/event-handlers.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../../tests/support/browser.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';

const dayMs = 86_400_000;
const path = '/api/notifications';

onEveryEngine('Notifications of users', app => {
  const ok = async (method: string, at: string, credential: string, body?: unknown) => {
    const answer = await app().ask(method, at, { credential, ...(body === undefined ? {} : { body }) });
    assert.equal(answer.status, 200, `${method} ${at}: ${answer.text}`);
    return answer.body;
  };
  const upload = async (credential: string, days = 3) => {
    const notAfter = new Date(Date.now() + (days + 0.5) * dayMs);
    const { certPem } = makeAuthority(`C ${createPublicId()}`, { notAfter });
    return (await ok('POST', '/api/certs', credential, certPem)).id as string;
  };
  const definition = (more: object = {}) => ({
    name: `N ${createPublicId()}`,
    use_keyless: true,
    proxy: { listen_path: `/n${createPublicId()}/`, target_url: 'http://127.0.0.1:1/' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  });
  const unserved = { use_mutual_tls_auth: true, client_certificates: ['no-such-certificate'] };
  /** A webhook with a dead letter: its template does not exist. */
  async function makeDeadLetter(credential: string, orgId: string, hookId?: string): Promise<string> {
    // Another file each time: the same failure is stored once a minute.
    const template_path = `missing/${createPublicId()}.json`;
    const hook = { method: 'POST', target_path: 'http://127.0.0.1:1/', name: 'CRM', template_path };
    if (hookId) await ok('PUT', `/api/hooks/${hookId}`, credential, hook);
    const id = hookId ?? ((await ok('POST', '/api/hooks', credential, hook)).ID as string);
    const handlers = { AuthFailure: [{ handler_name: 'eh_web_hook_handler', handler_meta: { id } }] };
    const { events, clock } = app().application.installation.services;
    const detail = { message: createPublicId() };
    const event = { event: 'AuthFailure', atMs: clock.now(), orgId, apiId: '', detail };
    events.emit(event, eventHandlerList.classic.decode(handlers));
    await events.waitUntilWritten();
    return id;
  }
  const topicsOf = ({ notifications }: { notifications: { topic: string }[] }) => notifications.map(it => it.topic);

  test('certificates, dead letters and APIs that are not served are listed for their organisation', async () => {
    const { orgId, accessKey } = await app().stranger();
    assert.deepEqual(await ok('GET', path, accessKey), { notifications: [], unread: 0, muted_topics: [] });
    const certId = await upload(accessKey);
    const hookId = await makeDeadLetter(accessKey, orgId);
    const api = definition(unserved);
    const { ID: apiId } = await ok('POST', '/api/apis', accessKey, { api_definition: api });
    await ok('POST', '/api/apis', accessKey, { api_definition: definition() });
    await ok('POST', '/api/apis', accessKey, { api_definition: definition({ ...unserved, active: false }) });
    await app().application.waitForDataPlane();
    const list = await ok('GET', path, accessKey);
    const byTopic = Object.fromEntries(list.notifications.map((it: { topic: string }) => [it.topic, it]));
    assert.deepEqual(
      list.notifications.map((it: { kind: string; read: boolean }) => [it.kind, it.read]),
      [
        ['critical', false],
        ['critical', false],
        ['warning', false],
      ],
    );
    assert.equal(list.unread, 3);
    assert.equal(byTopic['certificate.expiry'].data.cert_id, certId);
    assert.deepEqual(byTopic['webhook.dead_letters'].data, { hook_id: hookId, dead_letters: 1 });
    assert.equal(byTopic['webhook.dead_letters'].message, 'CRM has 1 dead letter');
    assert.deepEqual(byTopic['api.not_served'].data, { api_id: apiId });
    assert.match(byTopic['api.not_served'].message, new RegExp(`^${api.name} is not served: `));
    const { apis: unservedApis, complete } = await ok('GET', '/api/unserved-apis', accessKey);
    assert.deepEqual([unservedApis.map((it: { api_id: string }) => it.api_id), complete], [[apiId], true]);
    assert.match(unservedApis[0].reason, /no-such-certificate/);
    const { accessKey: other } = await app().stranger();
    assert.deepEqual((await ok('GET', path, other)).notifications, []);
    assert.deepEqual(await ok('GET', '/api/unserved-apis', other), { apis: [], complete: true });
  });

  test('read notifications stay read for one user, and a further dead letter is unread', async () => {
    const { orgId, accessKey } = await app().stranger();
    const { accessKey: colleague } = await addPerson(app(), { org_id: orgId });
    const hookId = await makeDeadLetter(accessKey, orgId);
    await upload(accessKey);
    const [first, second] = (await ok('GET', path, accessKey)).notifications;
    const marked = await ok('PUT', `${path}/read`, accessKey, { ids: [second.id, 'unknown'] });
    assert.deepEqual([marked.Message, marked.Meta], ['Notifications marked', 1]);
    const after = await ok('GET', path, accessKey);
    assert.deepEqual([after.notifications, after.unread], [[first, { ...second, read: true }], 1]);
    assert.deepEqual((await ok('GET', `${path}?unread=true`, accessKey)).notifications, [first]);
    assert.equal((await ok('GET', path, colleague)).unread, 2);
    assert.equal(second.topic, 'webhook.dead_letters');
    await makeDeadLetter(accessKey, orgId, hookId);
    assert.equal((await ok('GET', path, accessKey)).unread, 2);
    await ok('PUT', `${path}/read`, accessKey, { ids: [first.id] });
    await ok('PUT', `${path}/read`, accessKey, { ids: [first.id], read: false });
    assert.equal((await ok('GET', path, accessKey)).unread, 2);
  });

  test('a muted topic is left out of list and count for one user, until it is unmuted', async () => {
    const { orgId, accessKey } = await app().stranger();
    const { accessKey: colleague } = await addPerson(app(), { org_id: orgId });
    await makeDeadLetter(accessKey, orgId);
    await upload(accessKey);
    await ok('PUT', `${path}/mutes`, accessKey, { topics: ['webhook.dead_letters'] });
    const muted = await ok('GET', path, accessKey);
    assert.deepEqual(topicsOf(muted), ['certificate.expiry']);
    assert.deepEqual([muted.unread, muted.muted_topics], [1, ['webhook.dead_letters']]);
    assert.equal(topicsOf(await ok('GET', `${path}?muted=true`, accessKey)).length, 2);
    assert.equal(topicsOf(await ok('GET', path, colleague)).length, 2);
    await ok('PUT', `${path}/mutes`, accessKey, { topics: [] });
    assert.equal((await ok('GET', path, accessKey)).unread, 2);
  });

  test('each topic needs the permission to read its objects, and hidden APIs are left out', async () => {
    const { orgId, accessKey } = await app().stranger();
    await makeDeadLetter(accessKey, orgId);
    await upload(accessKey);
    const { ID: apiId } = await ok('POST', '/api/apis', accessKey, { api_definition: definition(unserved) });
    await app().application.waitForDataPlane();
    const add = (user_permissions: object) => addPerson(app(), { org_id: orgId, user_permissions });
    const narrow = await add({ websockets: 'read' });
    assert.deepEqual(topicsOf(await ok('GET', path, narrow.accessKey)), ['certificate.expiry']);
    const hooks = await add({ websockets: 'read', hooks: 'read' });
    assert.deepEqual(topicsOf(await ok('GET', path, hooks.accessKey)).sort(), [
      'certificate.expiry',
      'webhook.dead_letters',
    ]);
    const apis = await add({ websockets: 'read', apis: 'read' });
    assert.deepEqual(topicsOf(await ok('GET', path, apis.accessKey)).sort(), ['api.not_served', 'certificate.expiry']);
    await ok('PUT', `/api/apis/${apiId}/access`, accessKey, { userIds: [narrow.id], userGroupIds: [] });
    assert.deepEqual(topicsOf(await ok('GET', path, apis.accessKey)), ['certificate.expiry']);
    assert.deepEqual((await ok('GET', '/api/unserved-apis', apis.accessKey)).apis, []);
    const none = await add({ hooks: 'read' });
    assert.equal((await app().ask('GET', path, { credential: none.accessKey })).status, 403);
  });

  test('the marks of a deleted user are deleted', async () => {
    const { orgId, accessKey } = await app().stranger();
    const person = await addPerson(app(), { org_id: orgId });
    await upload(accessKey);
    const [only] = (await ok('GET', path, person.accessKey)).notifications;
    await ok('PUT', `${path}/read`, person.accessKey, { ids: [only.id] });
    await ok('PUT', `${path}/mutes`, person.accessKey, { topics: ['api.not_served'] });
    const { db } = app().application.installation.records;
    const count = async () =>
      (await db.selectFrom('notification_marks').select('name').where('user_id', '=', person.id).execute()).length;
    assert.equal(await count(), 2);
    await ok('DELETE', `/api/users/${person.id}`, accessKey);
    assert.equal(await count(), 0);
  });

  test('a single sign-on without an account reads notifications, and stores no marks', async () => {
    const group = { name: 'Readers', user_permissions: { websockets: 'read' } };
    const { Meta: GroupID } = (await app().ask('POST', '/api/usergroups', { body: group })).body;
    const OrgID = app().credentials.organisation_id;
    const nonce = { ForSection: 'dashboard', OrgID, EmailAddress: 'temp@example.org', GroupID };
    const { body } = await app().ask('POST', '/admin/sso', { body: nonce });
    const tap = await fetch(`${app().url.dashboard}/tap?nonce=${body.Meta}`, { redirect: 'manual' });
    const browser = openBrowser(app());
    browser.cookie = tap.headers.getSetCookie()[0]!.split(';')[0]!;
    browser.csrfToken = (await browser.ask('GET', '/api/session')).body.csrf_token;
    assert.equal((await browser.ask('GET', path)).status, 200);
    const refused = await browser.ask('PUT', `${path}/mutes`, { body: { topics: ['certificate.expiry'] } });
    assert.equal(refused.status, 409, refused.text);
    assert.equal((await browser.ask('PUT', `${path}/read`, { body: { ids: ['a'] } })).status, 409);
  });

  test('invalid bodies are refused', async () => {
    const { accessKey } = await app().stranger();
    for (const [at, body, message] of [
      ['mutes', { topics: ['cats'] }, /^topics\[0\]: /],
      ['mutes', { topics: ['api.not_served', 'api.not_served'] }, /^topics: has duplicates/],
      ['read', { ids: [] }, /^ids: /],
      ['read', { ids: [''] }, /^ids\[0\]: /],
      ['read', { ids: Array.from({ length: 501 }, () => 'x') }, /^ids: /],
    ] as const) {
      const answer = await app().ask('PUT', `${path}/${at}`, { credential: accessKey, body });
      assert.equal(answer.status, 400);
      assert.match(answer.body.Message, message);
    }
  });
});
