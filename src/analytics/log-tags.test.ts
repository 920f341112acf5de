import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { onEveryEngine } from '../../tests/support/app.ts';
import { batchOf, someApi } from '../../tests/support/records.ts';
import { forEachCall, tagSeparator } from './batch.ts';
import type { LogEntry } from './log-store.ts';
import { toLogEntry } from './logged-call.ts';
import type { LoggedCall } from './schema.ts';

const at = Date.UTC(2025, 5, 1, 12);
const between = `start=${at / 1000}&end=${at / 1000 + 60}`;

onEveryEngine(
  'Logged requests by tag',
  app => {
    before(async () => {
      const api = { ...someApi, tags: ['eu'], orgId: app().credentials.organisation_id };
      const calls = [['vip', 'pol-gold'], ['VIP'], ['v'], ['vi%'], []].map((tags, n) => ({
        atMs: at + n,
        path: `/${n}`,
        // A path, alias or agent with the text of a tag is not that tag.
        userAgent: 'vip',
        alias: 'vip',
        tags: tags.join(tagSeparator),
        api,
      }));
      const entries: LogEntry[] = [];
      forEachCall(batchOf(calls), record => entries.push(toLogEntry(record, 0)));
      const { services, records } = app().application.installation;
      await records.write(() => services.logs.add(entries));
    });

    const find = async (tags: string) => {
      const { status, body, text } = await app().ask('GET', `/api/logs?${between}&tags=${encodeURIComponent(tags)}`);
      assert.equal(status, 200, text);
      return (body.data as LoggedCall[]).map(({ path }) => path).sort();
    };

    test('the whole tag matches, in its letter case, and of several all', async () => {
      const all = ['/0', '/1', '/2', '/3', '/4'];
      assert.deepEqual(await find('vip'), ['/0']);
      assert.deepEqual(await find('VIP'), ['/1']);
      assert.deepEqual(await find('v'), ['/2']);
      assert.deepEqual(await find('vi%'), ['/3']);
      assert.deepEqual(await find('pol-gold, vip'), ['/0']);
      assert.deepEqual(await find('vip,v'), []);
      assert.deepEqual(await find('eu'), all);
      assert.deepEqual(await find('key-00000000'), all);
      assert.deepEqual(await find(''), all);
    });

    test('the version of the API matches as a whole, in its letter case', async () => {
      const api = { ...someApi, orgId: app().credentials.organisation_id };
      const later = at + 240_000;
      const calls = ['v1', 'v1.1', 'V1', 'Non Versioned'].map((version, n) => ({
        atMs: later + n,
        path: `/${n}`,
        api,
        version,
        tags: 'v1',
      }));
      const entries: LogEntry[] = [];
      forEachCall(batchOf(calls), record => entries.push(toLogEntry(record, 0)));
      const { services, records } = app().application.installation;
      await records.write(() => services.logs.add(entries));
      const list = async (version: string) => {
        const span = `start=${later / 1000}&end=${later / 1000 + 60}`;
        const { status, body, text } = await app().ask('GET', `/api/logs?${span}&api_version=${version}`);
        assert.equal(status, 200, text);
        return (body.data as LoggedCall[]).map(({ path }) => path).sort();
      };
      assert.deepEqual(await list('v1'), ['/0']);
      assert.deepEqual(await list('V1'), ['/2']);
      assert.deepEqual(await list('Non%20Versioned'), ['/3']);
      assert.deepEqual(await list('v'), []);
    });

    test('the type and the name of a GraphQL operation match as a whole, and no tag stands for them', async () => {
      const api = { ...someApi, orgId: app().credentials.organisation_id };
      const later = at + 120_000;
      const calls = [
        { graphqlType: 'query', graphqlName: 'Orders' },
        { graphqlType: 'query', graphqlName: 'orders' },
        { graphqlType: 'mutation', graphqlName: 'Orders' },
        { graphqlType: 'query', graphqlName: '', tags: '\u001ftype mutation' },
        { tags: 'Orders' },
      ].map((it, n) => ({ atMs: later + n, path: `/${n}`, api, ...it }));
      const entries: LogEntry[] = [];
      forEachCall(batchOf(calls), record => entries.push(toLogEntry(record, 0)));
      const { services, records } = app().application.installation;
      await records.write(() => services.logs.add(entries));
      const list = async (filter: string) => {
        const { status, body, text } = await app().ask(
          'GET',
          `/api/logs?start=${later / 1000}&end=${later / 1000 + 60}&${filter}`,
        );
        assert.equal(status, 200, text);
        return (body.data as LoggedCall[]).map(({ path }) => path).sort();
      };
      assert.deepEqual(await list('graphql_operation_type=query'), ['/0', '/1', '/3']);
      assert.deepEqual(await list('graphql_operation_type=mutation'), ['/2']);
      assert.deepEqual(await list('graphql_operation_name=Orders'), ['/0', '/2']);
      assert.deepEqual(await list('graphql_operation_type=query&graphql_operation_name=Orders'), ['/0']);
      assert.deepEqual(await list('tags=Orders'), ['/4']);
      const { status, body } = await app().ask('GET', `/api/logs?${between}&graphql_operation_type=read`);
      assert.equal(status, 400);
      assert.match(body.Message, /graphql_operation_type/);
    });

    test('too many tags are refused', async () => {
      const tags = Array.from({ length: 11 }, (_, n) => `t${n}`).join();
      const { status, body } = await app().ask('GET', `/api/logs?${between}&tags=${tags}`);
      assert.equal(status, 400);
      assert.match(body.Message, /^tags: must be at most 10/);
    });
  },
  { settings: { 'analytics.retention_days': '0' } },
);
