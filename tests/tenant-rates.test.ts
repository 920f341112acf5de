import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from './support/app.ts';
import { openApi, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const settings = { 'tenants.grants': JSON.stringify({ networks: ['loopback'] }) };

onEveryEngine(
  'granted rates of organisations',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    test('a granted rate limits the requests to all APIs of an organisation, until it is removed', async () => {
      const [bounded, free] = [await app().stranger(), await app().stranger()];
      const place = `/admin/organisations/${bounded.orgId}/grants`;
      const grant = async (body: object) => {
        assert.equal((await app().ask('PUT', place, { body })).status, 200);
        await waitUntilApplied(app());
      };
      const publish = async ({ accessKey }: { accessKey: string }, path: string) => {
        const definition = openApi(upstream, { proxy: { listen_path: path } });
        const answer = await app().ask('POST', '/api/apis', {
          credential: accessKey,
          body: { api_definition: definition },
        });
        assert.equal(answer.status, 200, answer.text);
      };
      await publish(bounded, '/rate-one/');
      await publish(bounded, '/rate-two/');
      await publish(free, '/rate-free/');
      await grant({ rate: 3, per: 86_400 });
      const call = async (path: string) => (await fetch(`${app().url.gateway}${path}`)).status;
      const paths = ['/rate-one/', '/rate-two/', '/rate-one/', '/rate-two/', '/rate-one/'];
      const statuses: number[] = [];
      for (const path of paths) statuses.push(await call(path));
      assert.deepEqual(statuses, [200, 200, 200, 403, 403]);
      for (let count = 0; count < 5; count++) assert.equal(await call('/rate-free/'), 200);
      await grant({ rate: null });
      assert.equal(await call('/rate-one/'), 200);
    });
  },
  { settings },
);
