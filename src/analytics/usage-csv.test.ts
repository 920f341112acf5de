import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../tests/support/app.ts';
import { batchOf, someApi } from '../../tests/support/records.ts';
import { eventually, openApi, publish } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import { forEachCall } from './batch.ts';
import { createUsageRollUp } from './roll-up.ts';

const range = '1/6/2025/30/6/2025';
const at = Date.UTC(2025, 5, 1, 12);

onEveryEngine(
  'CSV of usage and logs',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    test('usage has one line per item, all of them, quoted and without formulas', async () => {
      const api = { ...someApi, id: createPublicId(), orgId: app().credentials.organisation_id, name: '@Orders' };
      const made = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false });
      const paths = ['=cmd|calc', '+1', '-1', '@x', '/a,b', '/"q"', ...Array.from({ length: 20 }, (_, n) => `/${n}`)];
      forEachCall(batchOf(paths.map(path => ({ atMs: at, path, api }))), made.add);
      await app().application.installation.services.usage.add(made.drain(0));
      const path = `/api/usage/apis/${api.id}/${range}?group_by=path&res=day&tz=Asia/Kolkata`;
      const { status, headers, text } = await app().ask('GET', `${path}&type=csv`);
      assert.equal(status, 200, text);
      assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
      assert.equal(headers.get('content-disposition'), 'attachment; filename="countUsageOfApi.csv"');
      const [head, ...lines] = text.trimEnd().split('\r\n');
      assert.match(head!, /^start,year,month,day,hour,minute,api_id,api_name,api_version,path,.*,hits,success,error,/);
      assert.equal(lines.length, paths.length);
      const start = `2025-06-01T00:00:00+05:30,2025,6,1,0,0,${api.id},'@Orders,,`;
      for (const cell of [`"'=cmd|calc"`, "'+1", "'-1", "'@x", '"/a,b"', '"/""q"""', '/7'])
        assert.ok(
          lines.some(
            line => line.startsWith(`${start}${cell},`) && line.includes(',1,1,0,2025-06-01T12:00:00Z,4,4,3,'),
          ),
          `${cell}\n${text}`,
        );
      assert.equal((await app().ask('GET', path)).body.data.length, 10);
      assert.equal((await app().ask('GET', `${path}&type=csv&p=3`)).text.trimEnd().split('\r\n').length, 1 + 6);
    });

    test('an error of a CSV request is an error of the surface', async () => {
      const { status, body } = await app().ask('GET', `/api/usage/apis/${range}?type=csv&res=second`);
      assert.deepEqual([status, body.Status], [400, 'Error']);
      assert.equal((await app().ask('GET', `/api/usage/apis/${range}?type=xml`)).status, 400);
    });

    test('logs have one line per request, with text of clients quoted', async () => {
      const definition = openApi(upstream, { enable_detailed_recording: true });
      const url = await publish(app(), definition);
      await fetch(`${url}/a`, { headers: { 'user-agent': '=HYPERLINK("http://x","y")' } });
      const text = await eventually(async () => {
        const path = `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}&type=csv`;
        const reply = await app().ask('GET', path);
        assert.equal(reply.text.split('\r\n').length, 3, reply.text);
        return reply.text;
      });
      const [head, line] = text.split('\r\n');
      assert.match(head!, /^timestamp,api_id,.*,user_agent,.*,tags,request_id$/);
      assert.ok(line!.includes(`,"'=HYPERLINK(""http://x"",""y"")",`), line!);
      assert.ok(!head!.includes('raw_request'));
    });

    test('logs as newline-delimited JSON have one whole request per line, also beyond a page', async () => {
      const definition = openApi(upstream, { enable_detailed_recording: true });
      const url = await publish(app(), definition);
      for (let n = 0; n < 11; n++) await fetch(`${url}/n${n}`);
      const path = `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`;
      const reply = await eventually(async () => {
        const given = await app().ask('GET', `${path}&type=ndjson`);
        assert.equal(given.text.trimEnd().split('\n').length, 11, given.text);
        return given;
      });
      assert.equal(reply.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
      assert.equal(reply.headers.get('content-disposition'), 'attachment; filename="listLogs.ndjson"');
      const lines = reply.text
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line));
      assert.ok(lines.every(({ raw_request }) => raw_request !== ''));
      assert.deepEqual(lines.slice(0, 10), (await app().ask('GET', path)).body.data);
      assert.equal((await app().ask('GET', `${path}&type=xml`)).status, 400);
    });
  },
  { settings: { 'analytics.retention_days': '0' } },
);
