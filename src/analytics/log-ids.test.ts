import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from '../../tests/support/app.ts';
import { eventually, openApi, publish } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import type { LoggedCall } from './schema.ts';

onEveryEngine('ids of logged requests', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  test('one logged request is read by its id, which other texts and other organisations are not', async () => {
    const definition = openApi(upstream, { enable_detailed_recording: true });
    const url = await publish(app(), definition);
    await Promise.all(['a', 'b', 'c'].map(name => fetch(`${url}/${name}`)));
    const listed: (LoggedCall & { id: string })[] = await eventually(async () => {
      const { data } = (await app().ask('GET', `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`)).body;
      assert.equal(data.length, 3);
      return data;
    });
    for (const call of listed) assert.deepEqual((await app().ask('GET', `/api/logs/${call.id}`)).body, call);
    const { id } = listed[0]!;
    const { accessKey } = await app().stranger();
    const other = await app().ask('GET', `/api/logs/${id}`, { credential: accessKey });
    const [time, digest] = id.split('-') as [string, string];
    const unknown = ['1', 'x-y', `${Number(time) + 1}-${digest}`, `${time}-${'0'.repeat(32)}`, `${id}0`];
    const replies = [other, ...(await Promise.all(unknown.map(it => app().ask('GET', `/api/logs/${it}`))))];
    for (const { status, body } of replies)
      assert.deepEqual(
        [status, body.Message],
        [404, 'Request not found: it was not recorded, or its record has expired'],
      );
  });
});
