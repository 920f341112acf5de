import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Answer, onEveryEngine } from '../../../tests/support/app.ts';
import { fullPolicy } from './schema.ts';

const members = Object.keys(fullPolicy({})).sort();

function expectError({ status, body, text }: Answer, expected: number, message: string): void {
  assert.equal(status, expected, text);
  assert.deepEqual(body, { status: 'error', message });
}

onEveryEngine('policies of the gateway API', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, path, body === undefined ? {} : { body });

  test('a policy is created, read, replaced and removed, with the exact response shapes', async () => {
    const id = createPublicId();
    const path = `/gw/policies/${id}`;
    const added = await ask('POST', '/gw/policies', { id, rate: 5, per: 60 });
    assert.deepEqual(added.body, { key: id, status: 'ok', action: 'added' });
    const { body: shown } = await ask('GET', path);
    assert.deepEqual(Object.keys(shown).sort(), members);
    const { organisation_id } = app().credentials;
    assert.deepEqual([shown.id, shown.name, shown.rate, shown.org_id], [id, id, 5, organisation_id]);
    assert.deepEqual(
      (await ask('GET', '/gw/policies')).body.find((it: { id: string }) => it.id === id),
      shown,
    );
    const changed = await ask('PUT', path, { id, rate: 6, per: 60, name: `Six ${id}` });
    assert.deepEqual(changed.body, { key: id, status: 'ok', action: 'modified' });
    const { body: next } = await ask('GET', path);
    assert.deepEqual([next.rate, next.name, next._id], [6, `Six ${id}`, shown._id]);
    assert.deepEqual([next.date_created, next.org_id], [shown.date_created, shown.org_id]);
    await ask('PUT', path, { rate: 7 });
    assert.equal((await ask('GET', path)).body.name, `Six ${id}`);
    assert.deepEqual((await ask('DELETE', path)).body, { key: id, status: 'ok', action: 'deleted' });
    expectError(await ask('GET', path), 404, 'Policy not found');
    expectError(await ask('PUT', path, { id }), 404, 'Policy not found');
    expectError(await ask('DELETE', path), 404, 'Policy not found');
  });

  test('legacy members of a policy are accepted, with a warning for each that is set', async () => {
    const id = createPublicId();
    const limit = { rate: 1, per: 1, smoothing: null };
    const access_rights = { a1: { api_id: 'a1', endpoints: [{ path: '/a', methods: [{ name: 'GET', limit }] }] } };
    const silent = { quota_remaining: 0, last_check: 0, graphql_access_rights: null, rsa_enabled: false, expires: 0 };
    const exported = { id, rate: 5, per: 60, access_rights, ...silent, quota_renews: 1481546970, allowance: 5 };
    assert.deepEqual((await ask('POST', '/gw/policies', exported)).body, {
      key: id,
      status: 'ok',
      action: 'added',
      warnings: ['quota_renews: legacy member, kept without effect', 'allowance: legacy member, kept without effect'],
    });
    const { body: read } = await ask('GET', `/gw/policies/${id}`);
    assert.deepEqual(read.access_rights.a1.endpoints[0].methods[0].limit, { rate: 1, per: 1 });
    assert.equal(read.quota_renews, exported.quota_renews);
    await ask('DELETE', `/gw/policies/${id}`);
    const smoothing = { enabled: true, threshold: 0 };
    const wrong = { a1: { endpoints: [{ path: '/a', methods: [{ name: 'GET', limit: { rate: 9, smoothing } }] }] } };
    expectError(
      await ask('POST', '/gw/policies', { id: `${id}-2`, access_rights: wrong }),
      400,
      'access_rights.a1.endpoints[0].methods[0].limit.smoothing.threshold: must be at least 1',
    );
  });

  test('smoothing that has no effect is stored with a warning, on both surfaces', async () => {
    const id = createPublicId();
    const policy = { id, name: id, rate: 5, per: 60, smoothing: { enabled: true, threshold: 5, step: 1, delay: 1 } };
    const warnings = ['smoothing.threshold: should be below the rate (5)'];
    assert.deepEqual((await ask('POST', '/gw/policies', policy)).body.warnings, warnings);
    assert.deepEqual((await ask('PUT', `/gw/policies/${id}`, policy)).body.warnings, warnings);
    assert.deepEqual((await ask('PUT', `/gw/policies/${id}`, { ...policy, rate: 6 })).body.warnings, undefined);
    const path = '/api/portal/policies';
    assert.deepEqual((await ask('PUT', `${path}/${id}`, policy)).body.warnings, warnings);
    const created = await ask('POST', path, { ...policy, id: `${id}-2`, name: `${id}-2` });
    assert.deepEqual([created.status, created.body.warnings], [200, warnings]);
  });

  test('a policy needs an unused id of safe characters', async () => {
    const id = createPublicId();
    expectError(await ask('POST', '/gw/policies', { name: 'x' }), 400, 'Unable to create policy without id.');
    const characters = 'Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~';
    expectError(await ask('POST', '/gw/policies', { id: 'a/b' }), 400, characters);
    assert.equal((await ask('POST', '/gw/policies', { id })).status, 200);
    assert.equal((await ask('POST', '/gw/policies', { id })).status, 409);
    const twice = await Promise.all([1, 2, 3].map(() => ask('POST', '/gw/policies', { id: `${id}-2` })));
    assert.deepEqual(twice.map(it => it.status).sort(), [200, 409, 409]);
    const mismatch = 'Request ID does not match that in policy! For Update operations these must match.';
    expectError(await ask('PUT', `/gw/policies/${id}`, { id: 'other' }), 400, mismatch);
    expectError(
      await ask('POST', '/gw/policies', { id: 'x', org_id: 'no' }),
      400,
      'org_id: there is no organisation no',
    );
    expectError(
      await ask('POST', '/gw/policies', { id: 'x', rate: 'a' }),
      400,
      'rate: expected number, received string',
    );
    expectError(await ask('POST', '/gw/policies', ''), 400, 'Request body is empty');
  });

  test('policies of every organisation are found; an ambiguous id needs org_id', async () => {
    const [one, two] = [await app().stranger(), await app().stranger()];
    const id = createPublicId();
    const path = `/gw/policies/${id}`;
    await ask('POST', '/gw/policies', { id, org_id: one.orgId });
    assert.equal((await ask('GET', path)).body.org_id, one.orgId);
    await ask('POST', '/gw/policies', { id, org_id: two.orgId });
    const several = 'Several organisations have a policy with this id: set org_id';
    expectError(await ask('GET', path), 409, several);
    expectError(await ask('DELETE', path), 409, several);
    assert.equal((await ask('GET', `${path}?org_id=${two.orgId}`)).body.org_id, two.orgId);
    assert.equal((await ask('PUT', path, { id, org_id: two.orgId, rate: 9 })).status, 200);
    assert.equal((await ask('GET', `${path}?org_id=${two.orgId}`)).body.rate, 9);
    assert.equal((await ask('GET', `${path}?org_id=${one.orgId}`)).body.rate, 0);
    const owners = (await ask('GET', '/gw/policies')).body.filter((it: { id: string }) => it.id === id);
    assert.deepEqual(
      owners.map((it: { org_id: string }) => it.org_id),
      [two.orgId, one.orgId],
    );
    assert.equal((await ask('DELETE', `${path}?org_id=${one.orgId}`)).status, 200);
    assert.equal((await ask('GET', path)).body.org_id, two.orgId);
  });

  test('concurrent writes lose nothing, and lists are consistent', async () => {
    const ids = Array.from({ length: 10 }, createPublicId);
    const answers = await Promise.all([
      ...ids.map(id => ask('POST', '/gw/policies', { id, tags: ['a', 'b'] })),
      ask('GET', '/gw/policies'),
    ]);
    assert.deepEqual(new Set(answers.map(it => it.status)), new Set([200]));
    for (const policy of answers.at(-1)!.body) assert.deepEqual(Object.keys(policy).sort(), members);
    const listed = (await ask('GET', '/gw/policies')).body.map((it: { id: string }) => it.id);
    for (const id of ids) assert.ok(listed.includes(id));
    const changes = await Promise.all([1, 2, 3, 4].map(rate => ask('PUT', `/gw/policies/${ids[0]}`, { rate })));
    assert.deepEqual(new Set(changes.map(it => it.status)), new Set([200]));
  });
});
