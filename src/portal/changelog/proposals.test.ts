import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { fillChangelog } from '../../../tests/support/full-changelog.ts';
import { addApi, addProduct, portalTimePattern, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { createSiteClient } from '../../../tests/support/site-client.ts';
import { problem } from '../problems.ts';

const toDocument = (paths: unknown, version = '1') =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version }, paths });
const orders = { '/orders': { get: { responses: {} } } };

onEveryEngine('proposed entries of changelogs', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);

  async function publish() {
    const APIID = await addApi(app());
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [1] });
    const upload = async (paths: unknown, version?: string) => {
      const body = toFileForm(toDocument(paths, version));
      const path = `/portal-api/products/${product.ID}/api-details/${APIID}/oas`;
      assert.equal((await app().ask('POST', path, { body })).status, 200);
    };
    await upload(orders);
    return { product, upload, path: `/products/${product.ID}/changelog-proposals` };
  }

  test('a changed document proposes an entry, the first and an equal one none', async () => {
    const { product, upload, path } = await publish();
    await upload(orders);
    assert.deepEqual(await ok('GET', path), []);
    await upload({ '/orders': { post: { responses: {} } } }, '2');
    const [{ ID, CreatedAt, ...proposal }, ...others] = await ok('GET', path);
    assert.deepEqual(others, []);
    assert.match(CreatedAt, portalTimePattern);
    assert.deepEqual(proposal, {
      ProductID: product.ID,
      Document: product.APIDetails[0].Name,
      Version: '2',
      Kind: 'changed',
      Headline: '1 operation added, 1 operation removed',
      Text: '**Breaking changes**\n\n- `GET /orders`: removed\n\n**Other changes**\n\n- `POST /orders`: added\n',
      IsBreaking: true,
      Changes: [
        { Kind: 'added', IsBreaking: false, Operation: 'POST /orders', Text: '' },
        { Kind: 'removed', IsBreaking: true, Operation: 'GET /orders', Text: '' },
      ],
    });
    const site = `/portal/catalogue-products/${product.Path}/changelog`;
    assert.equal((await createSiteClient(app()).get(site)).status, 404, 'the site shows no proposal');
    await ok('DELETE', `/products/${product.ID}`);
    const { proposals } = app().application.installation.services.portal;
    assert.deepEqual(await proposals.page(product.ID, { page: 1, per_page: 10 }), []);
  });

  test('a published proposal is an entry with the given members, once; a dropped one is gone', async () => {
    const { product, upload, path } = await publish();
    await upload({ ...orders, '/a': { get: { responses: {} } } });
    await upload({ ...orders, '/b': { get: { responses: {} } } });
    const [second, first] = await ok('GET', path);
    const change = { ...first, Headline: 'A is new', Version: '1.1', ReleasedAt: '2030-01-31 12:00', Notify: false };
    const entry = await ok('POST', `${path}/${first.ID}/publish`, change, 201);
    const { Kind, Headline, Text, Version, ReleasedAt } = entry;
    assert.deepEqual(
      [Kind, Headline, Text, Version, ReleasedAt],
      ['added', 'A is new', '**Other changes**\n\n- `GET /a`: added\n', '1.1', '2030-01-31 12:00'],
    );
    assert.deepEqual(await ok('GET', `/products/${product.ID}/changelog`), [entry]);
    assert.deepEqual(await ok('GET', path), [second]);
    const site = await createSiteClient(app()).get(`/portal/catalogue-products/${product.Path}/changelog`);
    assert.match(site.text, /<code>GET \/a<\/code>: added/);
    await ok('DELETE', `${path}/${second.ID}`);
    assert.deepEqual(await ok('GET', path), []);
    for (const { ID } of [first, second]) {
      const given = `/portal-api${path}/${ID}`;
      await expectProblem(app(), 'publishChangelogProposal', problem.unknown, `${given}/publish`, { body: {} });
      await expectProblem(app(), 'dropChangelogProposal', problem.not_found, given);
    }
    const missing = '/portal-api/products/999999/changelog-proposals';
    await expectProblem(app(), 'listChangelogProposals', problem.not_found, missing);
  });

  test('a proposal of another product is unknown, and one for a full changelog stays', async () => {
    const { product, upload, path } = await publish();
    const other = await publish();
    await upload({});
    const [proposal] = await ok('GET', path);
    const foreign = `${other.path}/${proposal.ID}`;
    assert.equal((await app().ask('POST', `/portal-api${foreign}/publish`, { body: {} })).status, 422);
    assert.equal((await app().ask('DELETE', `/portal-api${foreign}`)).status, 404);
    await fillChangelog(app().application.installation.records, product.ID);
    const given = `/portal-api${path}/${proposal.ID}/publish`;
    await expectProblem(app(), 'publishChangelogProposal', problem.too_many_changes, given, { body: {} });
    assert.deepEqual(await ok('GET', path), [proposal]);
  });

  test('the newest 20 proposals of a product are kept', async () => {
    const { upload, path } = await publish();
    for (let number = 0; number < 22; number++) await upload({ [`/p${number}`]: { get: { responses: {} } } });
    const kept = await ok('GET', `${path}?per_page=100`);
    assert.equal(kept.length, 20);
    assert.match(kept[0].Text, /GET \/p21`: added/);
  });
});
