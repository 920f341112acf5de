import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../tests/support/app.ts';
import { batchOf, someApi } from '../../tests/support/records.ts';
import { openApi } from '../../tests/support/traffic.ts';
import { forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';
import type { UsageItem } from './schema.ts';

const range = '1/6/2025/2/6/2025';
const at = Date.UTC(2025, 5, 1, 12);
const between = `start=${at / 1000}&end=${at / 1000 + 60}`;

for (const ownersOnly of ['true', 'false'])
  onEveryEngine(
    `owned_analytics, apis.owners_only ${ownersOnly}`,
    app => {
      const keys: Record<string, string> = {};
      let [byUser, byGroup, open, foreign] = ['', '', '', ''];

      async function addUser(name: string, permissions: object, more: object = {}): Promise<string> {
        const { body, text } = await app().ask('POST', '/admin/users', {
          body: {
            org_id: app().credentials.organisation_id,
            email_address: `${name}-${createPublicId()}@example.org`,
            first_name: 'A',
            last_name: 'B',
            active: true,
            user_permissions: permissions,
            ...more,
          },
        });
        assert.equal(body.Status, 'OK', text);
        keys[name] = body.Message;
        return body.Meta.id;
      }

      async function addApi(owners: object): Promise<string> {
        const definition = openApi({ url: 'http://127.0.0.1:9' });
        const { body, text } = await app().ask('POST', '/api/apis', {
          body: { api_definition: definition, ...owners },
        });
        assert.equal(body.Status, 'OK', text);
        return body.ID;
      }

      before(async () => {
        const narrow = { analytics: 'read', owned_analytics: 'read', log: 'read', mcp: 'read' };
        const group = await app().ask('POST', '/api/usergroups', { body: { name: 'team', user_permissions: narrow } });
        assert.equal(group.status, 200, group.text);
        const owner = await addUser('owner', narrow);
        await addUser('member', { apis: 'read' }, { group_id: group.body.Meta });
        await addUser('other', narrow);
        await addUser('wide', { analytics: 'read', mcp: 'read' });
        await addUser('without', { owned_analytics: 'read' });
        await addUser('denied', { analytics: 'read', owned_analytics: 'deny' });
        await addUser('admin', { IsAdmin: 'admin', owned_analytics: 'read' });
        byUser = await addApi({ user_owners: [owner] });
        byGroup = await addApi({ user_group_owners: [group.body.Meta] });
        open = await addApi({});
        foreign = await addApi({ user_owners: [await addUser('foreign', narrow)] });
        const made = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false });
        const apis = [byUser, byGroup, open, foreign].map(id => ({
          ...someApi,
          id,
          orgId: app().credentials.organisation_id,
        }));
        forEachCall(
          batchOf(apis.map(api => ({ atMs: at, api, keyHash: 'aaaaaaaa', status: 404, mcpMethod: 'ping' }))),
          made.add,
        );
        await app().application.installation.services.usage.add(made.drain(0));
      });

      const ask = (name: string, path: string) => app().ask('GET', path, { credential: keys[name]! });
      const list = async (name: string, path: string) => {
        const { status, body, text } = await ask(name, path);
        assert.equal(status, 200, `${name} ${path}: ${text}`);
        return (body.data as UsageItem[]).map(({ id }) => id.api_id).sort();
      };

      test('counts are those of APIs owned by the user or its group, an API without owners is not one', async () => {
        for (const path of [
          `/api/usage/apis/${range}?p=-1`,
          `/api/usage/mcp/${range}?p=-1`,
          `/api/usage?${between}&group_by=api_id&p=-1`,
          `/api/usage/apis/${range}?group_by=code,refusal,api_version&res=day&p=-1`,
        ]) {
          assert.deepEqual(await list('owner', path), [byUser], path);
          assert.deepEqual(await list('member', path), [byGroup], path);
          assert.deepEqual(await list('other', path), [], path);
          assert.deepEqual(await list('admin', path), [byUser, byGroup, open, foreign].sort(), path);
        }
        const sum = await ask('owner', `/api/usage?${between}`);
        assert.equal(sum.body.data[0].hits, 1);
        assert.deepEqual((await ask('other', `/api/usage?${between}`)).body.data, []);
      });

      test('counts restricted to several APIs are those of the named ones that the caller may see', async () => {
        const named = `/api/usage?${between}&group_by=api_id&p=-1&api_ids=`;
        const path = `${named}${[byUser, foreign, byUser].join('%2C%20')}`;
        assert.deepEqual(await list('admin', path), [byUser, foreign].sort());
        assert.deepEqual(await list('admin', `${path}&percentiles=1`), [byUser, foreign].sort());
        assert.deepEqual(await list('owner', path), [byUser]);
        assert.deepEqual(await list('wide', path), ownersOnly === 'true' ? [] : [byUser, foreign].sort());
        for (const none of ['', createPublicId()]) assert.deepEqual(await list('admin', named + none), []);
        const many = Array.from({ length: 101 }, (_, index) => `a${index}`).join(',');
        const refused = await ask('admin', named + many);
        assert.equal(refused.status, 400);
        assert.match(refused.text, /api_ids/);
      });

      test('without it, or with it denied, analytics covers every visible API', async () => {
        const visible = ownersOnly === 'true' ? [open] : [byUser, byGroup, open, foreign];
        for (const name of ['wide', 'denied'])
          assert.deepEqual(await list(name, `/api/usage/apis/${range}?p=-1`), visible.sort());
      });

      test('it grants nothing without analytics', async () => {
        assert.equal((await ask('without', `/api/usage/apis/${range}`)).status, 403);
      });

      test('an API that the user does not own is refused, also one that does not exist', async () => {
        for (const id of [open, foreign, byGroup, createPublicId()])
          for (const path of [
            `/api/usage/apis/${id}/${range}`,
            `/api/usage/apis/${range}?api_id=${id}`,
            `/api/usage/mcp/${range}?api_id=${id}`,
            `/api/usage?${between}&api_id=${id}`,
          ]) {
            const { status, text } = await ask('owner', path);
            assert.equal(status, 403, `${path}: ${text}`);
            assert.match(text, /You do not own this API/);
          }
        assert.equal((await ask('owner', `/api/usage/apis/${byUser}/${range}`)).status, 200);
        assert.equal((await ask('admin', `/api/usage/apis/${open}/${range}`)).status, 200);
      });

      test('keys, clients, paths, agents, countries, primitives, tags and uptime are refused', async () => {
        for (const path of [
          `/api/activity/keys/aaaaaaaa/${range}`,
          `/api/activity/keys/endpoint/aaaaaaaa/${range}`,
          `/api/activity/keys/aggregate/aaaaaaaa/${range}`,
          `/api/activity/oauthid/client/${range}`,
          `/api/activity/oauthid/endpoint/client/${range}`,
          `/api/usage/apis/${range}?group_by=key`,
          `/api/usage/apis/${byUser}/${range}?group_by=path`,
          `/api/usage/apis/${range}?group_by=oauth_id,code`,
          `/api/usage?${between}&key=aaaaaaaa`,
          `/api/usage?${between}&keys=aaaaaaaa`,
          `/api/usage?${between}&path=/`,
          `/api/usage?${between}&oauth_id=client`,
          `/api/usage?${between}&user_agent=curl`,
          `/api/usage?${between}&country=DE`,
          `/api/usage?${between}&tags=vip`,
          `/api/usage/mcp/${range}?tags=vip`,
          `/api/usage?${between}&group_by=tag`,
          `/api/usage/apis/${range}?group_by=user_agent`,
          `/api/usage/apis/${range}?group_by=country,code`,
          `/api/usage/mcp/${range}?group_by=mcp_method`,
          `/api/usage/apis/${range}?group_by=mcp_primitive`,
          `/api/activity/mcp/primitives/${range}`,
          `/api/activity/mcp/primitives/errors/${range}`,
          `/api/activity/mcp/keys/aaaaaaaa/${range}`,
          '/api/uptime',
        ]) {
          const { status, body } = await ask('owner', path);
          assert.equal(status, 403, path);
          assert.match(body.Message, /^access denied: owned_analytics shows counts of the APIs you own, not /, path);
          assert.equal((await ask('wide', path)).status, path.includes(byUser) && ownersOnly === 'true' ? 403 : 200);
        }
        const live = await ask('owner', '/api/live?tags=vip');
        assert.equal(live.status, 403);
        assert.match(live.body.Message, /^access denied: owned_analytics shows .*, not tags/);
      });
    },
    { settings: { 'apis.owners_only': ownersOnly, 'analytics.retention_days': '0' } },
  );
