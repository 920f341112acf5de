import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { eventStreamType } from '#operations/event-streams.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, onEveryEngine } from '../support/app.ts';
import { makeAuthority, makeServerCertificate } from '../support/certificates.ts';
import { openApi } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

interface Tenant {
  readonly orgId: string;
  readonly accessKey: string;
  readonly userId: string;
}

/** Data of the victim by name; each value is unique in the installation. */
type Belongings = Record<
  'api' | 'apiName' | 'path' | 'domain' | 'policy' | 'policyName' | 'hook' | 'hookName' | 'key' | 'cert' | 'email',
  string
>;

const headersOf = (accepts: unknown): Record<string, string> =>
  typeof accepts === 'object' && accepts !== null && 'only' in accepts
    ? { 'content-type': String((accepts as { only: string[] }).only[0]) }
    : { 'content-type': 'application/json' };

onEveryEngine('what a tenant learns of another', app => {
  let upstream: Upstream;
  let victim: Tenant;
  let other: Tenant;
  let own: Belongings;
  let pem: string;
  const authority = makeAuthority();

  const asVictim = async (method: string, path: string, body: unknown): Promise<Answer> => {
    const answer = await app().ask(method, path, { credential: victim.accessKey, body });
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer;
  };

  /** Values that the other tenant sent itself may be returned: audit records and references repeat them. */
  const sent = new Set<string>();
  const secrets = () => [victim.orgId, victim.userId, ...Object.values(own)];

  /** Sends a request as the other tenant: the response may contain only victim data that a request contained. */
  async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const question = `${decodeURIComponent(path)} ${text ?? ''}`;
    for (const secret of secrets()) if (question.includes(secret)) sent.add(secret);
    const asked = text === undefined ? { headers } : { body: text, headers };
    const answer = await app().ask(method, path, { credential: other.accessKey, ...asked });
    for (const secret of secrets())
      assert.ok(sent.has(secret) || !answer.text.includes(secret), `${method} ${question}: ${answer.text}`);
    assert.ok(answer.status < 500, `${method} ${path}: ${answer.text}`);
    return answer;
  }

  before(async () => {
    upstream = await startUpstream();
    victim = await app().stranger();
    other = await app().stranger();
    const mark = createPublicId();
    const domain = `${mark}.victim.example`;
    await app().ask('PUT', `/admin/organisations/${victim.orgId}/grants`, { body: { domains: [domain] } });
    const named = { apiName: `Ledger ${mark}`, path: `/ledger-${mark}/`, domain, policyName: `Gold ${mark}` };
    const definition = openApi(upstream, { name: named.apiName, proxy: { listen_path: named.path } });
    const { body: api } = await asVictim('POST', '/api/apis', { api_definition: definition });
    const hosted = openApi(upstream, { name: `Hosted ${mark}`, domain, proxy: { listen_path: '/' } });
    await asVictim('POST', '/api/apis', { api_definition: hosted });
    const rights = { [api.ID]: { api_id: api.ID, api_name: named.apiName, versions: ['Default'] } };
    const { body: policy } = await asVictim('POST', '/api/portal/policies', {
      name: named.policyName,
      access_rights: rights,
    });
    const hook = `hook-${mark}`;
    const hookName = `Hook ${mark}`;
    const target = { method: 'POST', target_path: 'http://127.0.0.1:9/', webhook_id: hook, name: hookName };
    await asVictim('POST', '/api/hooks', target);
    const { body: key } = await asVictim('POST', '/api/keys', { access_rights: rights });
    const made = makeServerCertificate(authority, { cn: domain, dnsNames: [domain] });
    pem = made.chainPem + made.keyPem;
    const { body: cert } = await asVictim('POST', '/api/certs', pem);
    const email = `accountant-${mark}@victim.example`;
    await asVictim('POST', '/api/users', {
      email_address: email,
      first_name: 'A',
      last_name: 'B',
      active: true,
      user_permissions: { apis: 'read' },
    });
    own = { ...named, api: api.ID, policy: policy.Message, hook, hookName, key: key.key_id, cert: cert.id, email };
  });
  after(() => upstream?.close());

  test('lists, logs, usage, audit and status contain only data of the own organisation', async () => {
    const base = openApi(upstream, { name: 'Base', proxy: { listen_path: `/base-${createPublicId()}/` } });
    const definition = { enabled: true, name: 'a', versions: { b: own.api } };
    const { body } = await ask('POST', '/api/apis', { api_definition: { ...base, definition } });
    const status = await ask('GET', `/api/apis/${body.ID}/status`);
    assert.equal(status.status, 200, status.text);
    await ask('GET', `/api/apis?p=-1&q=${encodeURIComponent(own.apiName)}`);
    for (const path of ['/api/apis?p=-1', '/api/audit-logs?p=-1', '/api/users?p=-1', '/openapi.json', '/docs'])
      await ask('GET', path);
  });

  test('no operation returns objects of another organisation for any id', async () => {
    const ids = [own.api, own.policy, own.hook, own.key, own.cert, own.email, victim.orgId, victim.userId];
    for (const it of catalogue.filter(({ surface }) => surface === 'dashboard'))
      for (const id of it.path.includes('{') ? ids : ['']) {
        // The organisation, user and credentials of the caller itself are not modified.
        const path = it.path.replaceAll(/\{[\w-]+\}/g, encodeURIComponent(id));
        const endSoon = it.produces === eventStreamType ? '?seconds=1' : '';
        const takesBody = it.method !== 'GET' && it.method !== 'DELETE';
        await ask(it.method, path + endSoon, takesBody ? {} : undefined, takesBody ? headersOf(it.accepts) : {});
      }
    for (const [path, expected] of [
      [`/api/apis/${own.api}`, 200],
      [`/api/portal/policies/${own.policy}`, 200],
      [`/api/keys/${encodeURIComponent(own.key)}`, 200],
      [`/api/certs/${own.cert}`, 200],
    ] as const)
      assert.equal((await app().ask('GET', path, { credential: victim.accessKey })).status, expected, path);
  });

  test('a conflict with an id, path, host, name or certificate of another organisation does not reveal its owner', async () => {
    const at = (more: object, listen_path = `/mine-${createPublicId()}/`) => ({
      api_definition: openApi(upstream, { name: 'Mine', ...more, proxy: { listen_path } }),
    });
    const taken = await ask('POST', '/api/apis', at({ api_id: own.api }));
    assert.equal(taken.status, 409, taken.text);
    assert.match(taken.body.Message, /choose another id/);
    for (const path of [own.path, `${own.path}below/`, '/', '/{any}/'])
      assert.equal((await ask('POST', '/api/apis', at({}, path))).status, 409, path);
    assert.equal((await ask('POST', '/api/apis', at({ domain: own.domain }))).status, 403);
    await ask('POST', '/api/apis', at({ certificates: [own.cert], upstream_certificates: { '*': own.cert } }));
    await ask('POST', '/api/apis', at({ definition: { enabled: true, name: 'a', versions: { b: own.api } } }));
    const rights = { [own.api]: { api_id: own.api, api_name: 'x', versions: ['Default'] } };
    await ask('POST', '/api/portal/policies', { name: own.policyName });
    await ask('POST', '/api/portal/policies', { id: own.policy, name: 'Mine' });
    await ask('POST', '/api/portal/policies', { name: 'Mine too', access_rights: rights });
    await ask('POST', '/api/keys', { access_rights: rights });
    await ask('POST', '/api/keys', { apply_policies: [own.policy] });
    await ask('POST', '/api/keys/preview', { apply_policies: [own.policy] });
    await ask('POST', '/api/hooks', { method: 'POST', target_path: 'http://127.0.0.1:9/', webhook_id: own.hook });
    await ask('POST', '/api/users', {
      email_address: own.email,
      first_name: 'A',
      last_name: 'B',
      user_permissions: { apis: 'read' },
    });
    await ask('POST', '/api/certs', pem);
  });
});
