import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { startDashboardRelay } from '../../../tests/support/dashboard-relay.ts';
import { addApi, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('concurrent changes of a product', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);

  test('specifications and texts written while the provider is called are kept', async () => {
    await using relay = await startDashboardRelay(() => app().url.dashboard);
    const MetaData = JSON.stringify({ URL: relay.url, Secret: app().credentials.admin_access_key });
    const provider = await ok('POST', '/providers', { Name: 'Relay', Type: 'gw-pro', Configuration: { MetaData } });
    const APIID = await addApi(app());
    const fresh = {
      Name: 'before',
      ProviderID: provider.ID,
      APIDetails: [{ APIID }],
      SpecDetails: [{ SpecAlias: 'a' }],
    };
    const { ID } = await ok('POST', '/products', fresh, 201);
    const pause = relay.pauseNext('PUT');
    const renaming = ok('PUT', `/products/${ID}`, { Name: 'after', APIDetails: [{ APIID }] });
    await pause.reached;
    const added = await ok('POST', `/products/${ID}/spec-details`, { SpecAlias: 'b' }, 201);
    await ok('PUT', `/products/${ID}/api-details/${APIID}`, { Description: 'meanwhile', Name: 'Own' });
    pause.release();
    const renamed = await renaming;
    assert.deepEqual([renamed.Name, renamed.APIDetails[0].Name], ['after', 'Own']);
    assert.equal(renamed.APIDetails[0].Description, 'meanwhile');
    const specs = await ok('GET', `/products/${ID}/spec-details`);
    assert.deepEqual(
      specs.map(({ SpecAlias }: { SpecAlias: string }) => SpecAlias),
      ['a', 'b'],
    );
    assert.deepEqual(specs[1], added);
  });
});
