import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPlan, addProduct, portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('portal catalogues', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/catalogues${path}`, body === undefined ? {} : { body });

  test('a new catalogue is returned with every member; private by default', async () => {
    const plan = await addPlan(app());
    const product = await addProduct(app());
    const { status, body } = await ask('POST', '', {
      Name: 'Shelf',
      NameWithSlug: 'shelf',
      Plans: [plan.ID],
      Products: [String(product.ID)],
    });
    assert.equal(status, 200);
    const { ID, CID, CreatedAt, UpdatedAt, ...rest } = body;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      Name: 'Shelf',
      NameWithSlug: 'shelf',
      VisibilityStatus: 'Private',
      OrgCatalogues: [],
      Plans: [plan.Name],
      Products: [product.Name],
      ProductIDs: [product.ID],
      PlanIDs: [plan.ID],
    });
    for (const id of [ID, CID]) assert.deepEqual((await ask('GET', `/${id}`)).body, body);
    const [row] = (await ask('GET', '?per_page=1')).body;
    assert.deepEqual(row, { ID, CID, Name: 'Shelf', NameWithSlug: 'shelf', VisibilityStatus: 'Private' });
    assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/products/${product.ID}`)).Catalogues, ['Shelf']);
    assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/plans/${plan.ID}`)).Catalogues, [ID]);
  });

  test('sent lists replace, null empties, absence keeps, and names are accepted as references', async () => {
    const [one, two] = [await addPlan(app()), await addPlan(app())];
    const { body: made1 } = await ask('POST', '', { Name: 'Moving', Plans: [one.ID], VisibilityStatus: 'Public' });
    assert.equal(made1.NameWithSlug, 'moving');
    const put = async (body: object) => (await ask('PUT', `/${made1.ID}`, body)).body;
    assert.deepEqual((await put({ Name: 'Moved' })).Plans, [one.Name]);
    assert.deepEqual((await put({ ...made1, Plans: [...made1.Plans, two.ID] })).Plans, [one.Name, two.Name]);
    assert.deepEqual((await put({ Plans: [{ ID: two.ID, Name: 'whatever' }] })).Plans, [two.Name]);
    const emptied = await put({ Plans: null });
    assert.deepEqual([emptied.Plans, emptied.VisibilityStatus], [[], 'Public']);
  });

  test('removing a catalogue keeps its plans and products', async () => {
    const plan = await addPlan(app());
    const { body } = await ask('POST', '', { Name: 'Gone soon', Plans: [plan.ID] });
    assert.deepEqual((await ask('DELETE', `/${body.ID}`)).body, { status: 'ok' });
    assert.deepEqual((await requestPortal(app(), 'GET', `/portal-api/plans/${plan.ID}`)).Catalogues, []);
    assert.equal((await ask('GET', `/${body.ID}`)).status, 404);
    assert.equal((await ask('DELETE', `/${body.ID}`)).status, 404);
    assert.equal((await ask('PUT', `/${body.ID}`, { Name: 'x' })).status, 422);
  });

  test('an invalid catalogue is refused with its path, and nothing is stored', async () => {
    const { status, body } = await ask('POST', '', { Name: '', VisibilityStatus: 'Secret', Plans: ['x', {}] });
    assert.equal(status, 422);
    const places = body.errors.map((line: string) => line.split(':')[0]).sort();
    assert.deepEqual(places, ['Name', 'Plans[1]', 'VisibilityStatus']);
    assert.deepEqual((await ask('POST', '', { Name: 'Half', Plans: [424242] })).body.errors, [
      'Plans[0]: there is no plan 424242',
    ]);
    const names = (await ask('GET', '?per_page=100')).body.map((it: { Name: string }) => it.Name);
    assert.ok(!names.includes('Half'));
    const taken = await ask('POST', '', { Name: 'x', NameWithSlug: 'public-catalogue' });
    assert.equal(taken.status, 409);
    assert.match(taken.body.errors[0], /NameWithSlug or CID already exists/);
  });
});
