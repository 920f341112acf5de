import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApi, addProduct, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { indexMissing } from './missing-entries.ts';

/** A word that nothing else has. */
const aWord = () => `w${createPublicId().toLowerCase()}`;

const toDocument = (paths: Record<string, unknown>) =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version: '1' }, paths });

onEveryEngine('search of operations and guides', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const find = async (text: string, client: SiteClient = createSiteClient(app())) => {
    const { status, text: body } = await client.get(`/search?format=json&q=${encodeURIComponent(text)}`);
    assert.equal(status, 200, body);
    return JSON.parse(body) as Record<'Products' | 'Operations' | 'Guides', { Title: string; Path: string }[]>;
  };
  const listOperations = async (text: string, client?: SiteClient) =>
    (await find(text, client)).Operations.map(({ Title }) => Title);
  const listGuides = async (text: string, client?: SiteClient) =>
    (await find(text, client)).Guides.map(({ Title }) => Title);

  async function publish(paths: Record<string, unknown>, more: object = {}) {
    const APIID = await addApi(app());
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [1], ...more });
    const oas = `/products/${product.ID}/api-details/${APIID}/oas`;
    const upload = async (next: Record<string, unknown>) => {
      const { status } = await app().ask('POST', `/portal-api${oas}`, { body: toFileForm(toDocument(next)) });
      assert.equal(status, 200);
    };
    await upload(paths);
    return { ...product, APIID, oas, upload };
  }
  const aGuide = (productId: number, more: object) => {
    const doc = { Title: 'Guide', Content: 'x', Status: 'published', Path: createPublicId(), ...more };
    return ok('POST', `/products/${productId}/docs`, doc, 201);
  };

  test('an operation is found by path, summary, tag and parameters, and its link opens the operation', async () => {
    const [path, summary, tag, name] = [aWord(), aWord(), aWord(), aWord()];
    const parameters = [{ name: `${name}_id`, in: 'query' }];
    const operation = { summary: `Lists ${summary}`, tags: [tag], parameters, responses: {} };
    const product = await publish({ [`/${path}Lines/{id}`]: { get: operation }, '/other': { get: { responses: {} } } });
    const Title = `GET /${path}Lines/{id}`;
    for (const text of [
      path,
      `GET ${path}`,
      `/${path}lines`,
      summary.slice(0, -2),
      tag.toUpperCase(),
      `${name}_id`,
      name,
    ])
      assert.deepEqual(await listOperations(text), [Title], text);
    for (const text of [`${path} other`, path.slice(1), `${path}%`.replace('w', '_')])
      assert.deepEqual(await listOperations(text), [], text);
    const [{ Path, ...more }] = (await find(path)).Operations as [{ Title: string; Path: string }];
    assert.deepEqual(more, { Title, Summary: `Lists ${summary}`, Product: product.DisplayName || product.Name });
    const page = await createSiteClient(app()).get(Path);
    assert.match(page.text, new RegExp(`Lists ${summary}`));
    const results = await createSiteClient(app()).get(`/search?q=${path}`);
    assert.ok(results.text.includes(`href="${Path}"`), 'the page links it too');
    const catalogue = await createSiteClient(app()).get(`/portal/catalogue-products?q=${path}`);
    assert.ok(catalogue.text.includes(`/portal/catalogue-products/${product.Path}"`), 'its product is found by it');
  });

  test('the index follows a new document, its removal, and that of the product', async () => {
    const [first, second] = [aWord(), aWord()];
    const product = await publish({ [`/${first}`]: { get: { responses: {} } } });
    await product.upload({ [`/${second}`]: { put: { responses: {} } } });
    assert.deepEqual([await listOperations(first), await listOperations(second)], [[], [`PUT /${second}`]]);
    await ok('DELETE', product.oas);
    assert.deepEqual(await listOperations(second), []);
    await product.upload({ [`/${first}`]: { get: { responses: {} } } });
    await aGuide(product.ID, { Title: second });
    assert.deepEqual([await listOperations(first), await listGuides(second)], [[`GET /${first}`], [second]]);
    await ok('DELETE', `/products/${product.ID}`);
    const { records } = app().application.installation;
    const left = sql`select 1 from portal_search_words where word in (${first}, ${second})`;
    assert.deepEqual((await left.execute(records.db)).rows, []);
  });

  test('an operation of a specification is linked by its current alias', async () => {
    const word = aWord();
    const product = await addProduct(app(), { Catalogues: [1] });
    const specs = `/products/${product.ID}/spec-details`;
    const spec = await ok('POST', specs, { SpecAlias: 'one' }, 201);
    const body = toFileForm(toDocument({ [`/${word}`]: { get: { responses: {} } } }));
    assert.equal((await app().ask('POST', `/portal-api${specs}/${spec.ID}/oas`, { body })).status, 200);
    await ok('PUT', `${specs}/${spec.ID}`, { SpecAlias: 'two' });
    const [found] = (await find(word)).Operations;
    assert.equal(found?.Path, `/portal/catalogue-products/${product.Path}/two/docs/get-${word}`);
    assert.equal((await createSiteClient(app()).get(found!.Path)).status, 200);
  });

  test('a guide is found by its texts while it is published, and its link opens it', async () => {
    const [title, text, next] = [aWord(), aWord(), aWord()];
    const product = await addProduct(app(), { Catalogues: [1] });
    const guide = await aGuide(product.ID, { Title: title, Content: `<p>Use <b>${text}</b></p>` });
    const [found] = (await find(`${text} ${title}`)).Guides;
    assert.equal(found?.Title, title);
    assert.match((await createSiteClient(app()).get(found!.Path)).text, new RegExp(text));
    const path = `/products/${product.ID}/docs/${guide.ID}`;
    await ok('PUT', path, { Title: next, Status: 'published', MarkdownEnabled: true, MarkdownContent: `# ${title}` });
    assert.deepEqual([await listGuides(text), await listGuides(title)], [[], [next]]);
    await ok('PUT', path, { Title: next, Status: 'draft' });
    assert.deepEqual(await listGuides(next), []);
    await ok('PUT', path, { Title: next, Status: 'published' });
    assert.deepEqual(await listGuides(next), [next]);
    await ok('DELETE', path);
    assert.deepEqual(await listGuides(next), []);
  });

  test('operations and guides of a private product are found by those who see it alone', async () => {
    const word = aWord();
    const { ID: OrganisationID } = await ok('POST', '/organisations', { Name: createPublicId() });
    const team = await ok('POST', `/organisations/${OrganisationID}/teams`, { Name: 'Team' });
    const member = await addSiteDeveloper(app(), { OrganisationID, Role: 'consumer-team-member', Teams: [team.ID] });
    const colleague = await addSiteDeveloper(app(), { OrganisationID, Role: 'consumer-team-member' });
    const product = await publish({ [`/${word}`]: { get: { responses: {} } } }, { Catalogues: [] });
    await aGuide(product.ID, { Title: word });
    const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
    assert.deepEqual(await listOperations(word, admin), [], 'in no catalogue');
    const audience = { Products: [product.ID], OrgCatalogues: [{ TeamID: team.ID }] };
    await ok('POST', '/catalogues', { Name: createPublicId(), ...audience });
    const sees = await signedInClient(app(), member);
    assert.deepEqual([await listOperations(word, sees), await listGuides(word, sees)], [[`GET /${word}`], [word]]);
    for (const client of [createSiteClient(app()), await signedInClient(app(), colleague)]) {
      const found = await find(word, client);
      assert.deepEqual([found.Products, found.Operations, found.Guides], [[], [], []]);
      assert.ok(!(await client.get(`/search?q=${word}`)).text.includes(product.Path));
    }
  });

  test('documents and guides of before the index are indexed at a start', async () => {
    const word = aWord();
    const product = await publish({ [`/${word}`]: { get: { responses: {} } } });
    await aGuide(product.ID, { Title: word });
    const { records, services } = app().application.installation;
    for (const table of ['portal_search_words', 'portal_search_entries', 'portal_search_sources'])
      await sql`delete from ${sql.table(table)}`.execute(records.db);
    assert.deepEqual(await listOperations(word), []);
    await indexMissing({ records, portal: services.portal });
    assert.deepEqual([await listOperations(word), await listGuides(word)], [[`GET /${word}`], [word]]);
    assert.equal(await services.portal.search.nextMissing(), undefined);
  });
});
