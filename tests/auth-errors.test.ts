import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from './support/app.ts';
import { type RefusedRow, refusedRows } from './support/auth-error-cases.ts';
import { moreRefusedRows } from './support/auth-error-cases-more.ts';
import { errorBody } from './support/step-harness.ts';
import { type Publisher, startPublisher } from './support/tokens.ts';
import { eventually, openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Line {
  event?: string;
  api_id?: string;
}
let lines: Line[] = [];
const onLog = (line: string) => void lines.push(JSON.parse(line));
const listEvents = (apiId: string) =>
  lines.filter(({ event, api_id }) => event && api_id === apiId).map(it => it.event);

onEveryEngine(
  'Authentication errors',
  app => {
    let upstream: Upstream;
    let publisher: Publisher;
    /** APIs whose refusals are nobody's business. */
    const quiet: string[] = [];
    before(async () => {
      lines = [];
      [upstream, publisher] = await Promise.all([startUpstream(), startPublisher()]);
    });
    after(async () => {
      await Promise.all([upstream.close(), publisher.close()]);
    });

    async function checkRefusal({ definition, sends, status, message, event, invited }: RefusedRow): Promise<void> {
      const base = openApi(upstream, { use_keyless: false });
      const { api_id: apiId } = base;
      const at = { app: app(), publisher, apiId, listenPath: base.proxy.listen_path };
      const url = await publish(app(), {
        ...base,
        ...(typeof definition === 'function' ? await definition(at) : definition),
      });
      const seen = upstream.requests.length;
      const reply = await fetch(`${url}/thing`, await sends?.(at));
      assert.deepEqual([reply.status, await reply.text()], [status, errorBody(message)]);
      assert.equal(reply.headers.get('content-type'), 'application/json');
      assert.equal(reply.headers.get('www-authenticate'), invited ? 'Basic realm="Test"' : null);
      assert.equal(upstream.requests.length, seen, 'nothing reaches the upstream');
      if (event) await eventually(() => assert.deepEqual(listEvents(apiId), [event]));
      else quiet.push(apiId);
    }

    for (const row of [...refusedRows, ...moreRefusedRows])
      test(`when ${row.when}: ${row.status}`, () => checkRefusal(row));

    test('events are emitted for exactly those refusals that have one', () => {
      assert.ok(quiet.length > 0);
      for (const apiId of quiet) assert.deepEqual(listEvents(apiId), []);
    });
  },
  { onLog },
);
