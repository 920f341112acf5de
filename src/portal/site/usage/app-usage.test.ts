import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp } from '../../../../tests/support/app.ts';
import { addApi, addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../../tests/support/site-client.ts';
import { eventually, waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream } from '../../../../tests/support/upstream.ts';

test('the usage page leaves out percentiles where too many usage queries are in progress', async () => {
  const upstream = await startUpstream();
  const app = await startApp('sqlite', { settings: { 'analytics.max_waiting_reads': '0' } });
  try {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const product = await addProduct(app, { APIDetails: [{ APIID: await addApi(app, name, { proxy }) }] });
    const user = await addDeveloper(app, { Password: sitePassword });
    const { ID } = await addApp(app, { UserID: user.ID });
    const wanted = { PlanID: (await addPlan(app)).ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app, 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const { Credentials } = await requestPortal(app, 'GET', `/portal-api/access_requests/${AccessRequestID}`);
    await waitUntilApplied(app);
    const headers = { authorization: Credentials[0].Credential as string };
    assert.equal((await fetch(`${app.url.gateway}/${name}/`, { headers })).status, 200);
    const client = await signedInClient(app, user);
    const text = await eventually(async () => {
      const page = await client.get('/portal/private/analytics');
      assert.equal(page.status, 200, page.text);
      assert.match(page.text, /<li>1 call<\/li>/);
      return page.text;
    });
    assert.match(text, new RegExp(`<th scope="row">${name}`));
    assert.doesNotMatch(text, /50 % within/);
  } finally {
    await app.close();
    await upstream.close();
  }
});
