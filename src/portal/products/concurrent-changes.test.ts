import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { anApi, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('concurrent changes of a product', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);

  test('specifications and texts written while the provider is called are kept', async () => {
    let pause: { reached: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> } | undefined;
    const relay = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      if (request.method === 'PUT') {
        pause?.reached.resolve();
        await pause?.released.promise;
      }
      const headers = { authorization: request.headers.authorization ?? '' };
      const sent = body.length > 0 ? { body } : {};
      const answer = await fetch(app().url.dashboard + request.url, { method: request.method!, headers, ...sent });
      response.writeHead(answer.status).end(await answer.text());
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    try {
      const URL = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
      const MetaData = JSON.stringify({ URL, Secret: app().credentials.admin_access_key });
      const provider = await ok('POST', '/providers', { Name: 'Relay', Type: 'gw-pro', Configuration: { MetaData } });
      const APIID = await anApi(app());
      const fresh = {
        Name: 'before',
        ProviderID: provider.ID,
        APIDetails: [{ APIID }],
        SpecDetails: [{ SpecAlias: 'a' }],
      };
      const { ID } = await ok('POST', '/products', fresh, 201);
      pause = { reached: Promise.withResolvers(), released: Promise.withResolvers() };
      const renaming = ok('PUT', `/products/${ID}`, { Name: 'after', APIDetails: [{ APIID }] });
      await pause.reached.promise;
      const added = await ok('POST', `/products/${ID}/spec-details`, { SpecAlias: 'b' }, 201);
      await ok('PUT', `/products/${ID}/api-details/${APIID}`, { Description: 'meanwhile', Name: 'Own' });
      pause.released.resolve();
      const renamed = await renaming;
      assert.deepEqual([renamed.Name, renamed.APIDetails[0].Name], ['after', 'Own']);
      assert.equal(renamed.APIDetails[0].Description, 'meanwhile');
      const specs = await ok('GET', `/products/${ID}/spec-details`);
      assert.deepEqual(
        specs.map(({ SpecAlias }: { SpecAlias: string }) => SpecAlias),
        ['a', 'b'],
      );
      assert.deepEqual(specs[1], added);
    } finally {
      relay.closeAllConnections();
      relay.close();
    }
  });
});
