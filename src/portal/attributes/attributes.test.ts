import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import {
  addApp,
  addDeveloper,
  addPlan,
  addProduct,
  portalTimePattern,
  requestPortal,
} from '../../../tests/support/portal.ts';

onEveryEngine('attributes of portal users', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const custom = '/extended_attributes/1/custom-attributes';
  const defaults = '/extended_attributes/1/default-attributes';
  const create = (more: object = {}) =>
    ok('POST', custom, { Identifier: createPublicId(), Name: 'N', Type: 1, ...more }, 201);

  test('the model of users has the built-in attributes and every custom one', async () => {
    const { CreatedAt, UpdatedAt, ...rest } = await create({ Identifier: 'cost-centre', AddToKeyMetadata: 'true' });
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      ID: rest.ID,
      Identifier: 'cost-centre',
      Name: 'N',
      Description: '',
      Type: 1,
      Behaviour: 2,
      DropdownValues: '',
      ValidationRegExp: '',
      AddToKeyMetadata: true,
      Required: false,
      ShowOnSignUp: false,
      WriteOnceReadMany: false,
    });
    const [row] = await ok('GET', '/extended_attributes');
    assert.deepEqual(Object.keys(row).sort(), ['ID', 'LastUpdatedBy', 'ModelName', 'UpdatedAt']);
    assert.match(row.UpdatedAt, portalTimePattern);
    const model = await ok('GET', '/extended_attributes/1');
    assert.deepEqual(model.CustomAttributes, await ok('GET', custom));
    const labels = model.DefaultAttributes.map(({ Label }: { Label: string }) => Label);
    assert.deepEqual(labels, ['First', 'Last', 'Email', 'Role', 'Organisation', 'TeamNames']);
    assert.deepEqual(await ok('GET', `${defaults}?page=2&per_page=4`), model.DefaultAttributes.slice(4));
    assert.deepEqual(await ok('GET', `${defaults}/1`), model.DefaultAttributes[0]);
    assert.equal((await ok('PUT', `${custom}/${rest.ID}`, { Name: 'New' })).Name, 'New');
    assert.deepEqual(await ok('DELETE', `${custom}/${rest.ID}`), { status: 'ok' });
  });

  test('an attribute in the metadata of keys can be edited by users where it says so, or is of the sign-up', async () => {
    for (const [members, expected] of [
      [{}, 1],
      [{ AddToKeyMetadata: true }, 2],
      [{ AddToKeyMetadata: true, ShowOnSignUp: true }, 1],
      [{ AddToKeyMetadata: true, Behaviour: 1 }, 1],
      [{ Behaviour: 3 }, 3],
    ] as const) {
      const { ID, Behaviour } = await create(members);
      assert.equal(Behaviour, expected, JSON.stringify(members));
      assert.equal((await ok('PUT', `${custom}/${ID}`, { Name: 'New' })).Behaviour, expected);
      await ok('DELETE', `${custom}/${ID}`);
    }
  });

  test('members without an effect, wrong names and changed types are refused', async () => {
    const { ID, Identifier } = await create();
    const body = { Identifier: createPublicId(), Name: 'N', Type: 1 };
    for (const [change, message] of [
      [{ Identifier }, 'Identifier: another attribute has it'],
      [{ Identifier: 'a b' }, 'Identifier: must be 1 to 100 letters, digits, _ and -'],
      [{ Identifier: 'DeveloperID' }, 'Identifier: is the name of a default attribute'],
      [{ Identifier: 'EMAIL' }, 'Identifier: is the name of a default attribute'],
      ...['rate_limit_pattern', 'Policies', 'token', 'GW_anything', 'gw_developer_id', 'gwjwtsessionid'].map(
        name => [{ Identifier: name }, 'Identifier: is a metadata name of the gateway'] as const,
      ),
      [{ Type: 2 }, 'DropdownValues: are required for the type 2'],
      [{ DropdownValues: 'a,b' }, 'DropdownValues: are of the type 2 only'],
      [{ Type: 4, ValidationRegExp: 'a' }, 'ValidationRegExp: is of the type 1 only'],
      [{ ValidationRegExp: '(' }, 'ValidationRegExp: is not a valid regular expression (RE2 syntax)'],
      [{ Requierd: true }, 'Requierd: no such member; did you mean Required?'],
    ] as const) {
      const { status, body: refused } = await ask('POST', custom, { ...body, ...change });
      assert.deepEqual([status, refused.errors], [422, [message]]);
    }
    assert.deepEqual((await ask('PUT', `${custom}/${ID}`, { Type: 3 })).body.errors, [
      'Type: cannot change: create another attribute',
    ]);
    assert.equal((await ask('PUT', `${custom}/${ID}`, { Identifier: 'rate_limit_pattern' })).status, 422);
    const other = await create();
    assert.equal((await ask('PUT', `${custom}/${ID}`, { Identifier: other.Identifier })).status, 422);
    for (const path of ['/extended_attributes/2', '/extended_attributes/2/custom-attributes', `${custom}/99999`])
      assert.equal((await ask('GET', path)).status, 404, path);
    for (const path of [
      '/extended_attributes/2/default-attributes',
      `${defaults}/99`,
      `${defaults.replace('1', '2')}/1`,
    ])
      assert.equal((await ask('GET', path)).status, 404, path);
    assert.equal((await ask('POST', '/extended_attributes/2/custom-attributes', body)).status, 422);
    assert.equal((await ask('PUT', `${custom}/99999`, { Name: 'x' })).status, 422);
    assert.equal((await ask('DELETE', `${custom}/99999`)).status, 404);
    for (const path of [`${defaults}/99`, '/extended_attributes/2/default-attributes/1'])
      assert.equal((await ask('PUT', path, { AddToKeyMetadata: true })).status, 422);
  });

  test('a value fits the type of its attribute, and is cleared by an empty one', async () => {
    const user = await addDeveloper(app());
    const path = (id: number) => `/users/${user.ID}/custom-attributes/${id}`;
    for (const [attribute, good, bad, message] of [
      [{ Type: 1, ValidationRegExp: '^[a-z]+$' }, 'abc', 'A1', 'Value: does not match ^[a-z]+$'],
      [{ Type: 2, DropdownValues: 'red, green' }, 'green', 'blue', 'Value: must be one of red, green'],
      [{ Type: 3 }, true, 'yes', 'Value: must be true or false'],
      [{ Type: 4 }, 4.5, 'four', 'Value: must be a number'],
    ] as const) {
      const { ID } = await create(attribute);
      assert.equal((await ok('GET', path(ID))).Value, '');
      assert.equal((await ask('DELETE', path(ID))).status, 404);
      const { Value, CustomAttribute } = await ok('PUT', path(ID), { Value: good });
      const types = ['String', 'Dropdown', 'Boolean', 'Number'];
      assert.deepEqual([Value, CustomAttribute.Type], [String(good), types[attribute.Type - 1]]);
      assert.deepEqual((await ask('PUT', path(ID), { Value: bad })).body.errors, [message]);
      const [newest] = await ok('GET', `/users/${user.CID}/custom-attributes?limit=1`);
      assert.deepEqual([newest.ID, newest.Value], [ID, String(good)]);
      await ok('PUT', path(ID), { Value: '' });
      assert.equal((await ok('GET', path(ID))).Value, '');
      await ok('PUT', path(ID), { Value: good });
      assert.equal((await ok('GET', `${custom}/${ID}`)).ValueCount, 1);
      assert.deepEqual(await ok('DELETE', path(ID)), { status: 'ok' });
      assert.equal((await ok('GET', `${custom}/${ID}`)).ValueCount, 0);
    }
    for (const other of [`/users/99999/custom-attributes`, '/users/99999/custom-attributes/1', path(99999)])
      assert.equal((await ask('GET', other)).status, 404, other);
    assert.equal((await ask('PUT', path(99999), { Value: 'x' })).status, 422);
  });

  test('a value that is written once stays, and a required one cannot be cleared', async () => {
    const user = await addDeveloper(app());
    const once = await create({ WriteOnceReadMany: true });
    const path = (id: number) => `/users/${user.ID}/custom-attributes/${id}`;
    await ok('PUT', path(once.ID), { Value: 'first' });
    await ok('PUT', path(once.ID), { Value: 'first' });
    const readOnly = ['Value: is set already and can be written only once'];
    assert.deepEqual((await ask('PUT', path(once.ID), { Value: 'second' })).body.errors, readOnly);
    assert.deepEqual((await ask('DELETE', path(once.ID))).body.errors, readOnly);
    const required = await create({ Required: true });
    await ok('PUT', path(required.ID), { Value: 'x' });
    for (const [method, body] of [['PUT', { Value: '' }], ['DELETE']] as const)
      assert.deepEqual((await ask(method, path(required.ID), body)).body.errors, ['Value: is required']);
    await ok('DELETE', `${custom}/${required.ID}`);
    assert.equal((await ask('GET', path(required.ID))).status, 404);
  });

  test('a new key has the attributes that are added to its metadata, and no other', async () => {
    const user = await addDeveloper(app(), { First: 'Ann' });
    const [added, hidden] = [await create({ AddToKeyMetadata: true }), await create()];
    for (const { ID } of [added, hidden]) await ok('PUT', `/users/${user.ID}/custom-attributes/${ID}`, { Value: 'v' });
    for (const id of [1, 6]) await ok('PUT', `${defaults}/${id}`, { AddToKeyMetadata: true });
    const [product, plan] = [await addProduct(app()), await addPlan(app())];
    const { ID } = await addApp(app(), { UserID: user.ID });
    const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    await ok('PUT', `/apps/${ID}/provision`, wanted);
    const [[request]] = (await ok('GET', `/apps/${ID}`)).AccessRequests;
    const { body } = await app().ask('GET', `/api/keys/${request.Credentials[0].CredentialHash}?hashed=true`);
    const { DeveloperID, ApplicationID, OrganisationID, TeamIDs, ...more } = body.data.meta_data;
    assert.deepEqual([DeveloperID, ApplicationID, OrganisationID, TeamIDs], [String(user.ID), String(ID), '1', '1']);
    assert.deepEqual(more, { First: 'Ann', TeamNames: 'Default Organisation All users', [added.Identifier]: 'v' });
    for (const id of [1, 6]) await ok('PUT', `${defaults}/${id}`, { AddToKeyMetadata: false });
  });

  test('the number of custom attributes is bounded', async () => {
    const made: number[] = [];
    const create100 = async () => {
      for (;;) {
        const answer = await ask('POST', custom, { Identifier: createPublicId(), Name: 'N', Type: 1 });
        if (answer.status !== 201) return answer.body.errors;
        made.push(answer.body.ID);
      }
    };
    assert.deepEqual(await create100(), ['There can be at most 100 custom attributes']);
    for (const id of made) await ok('DELETE', `${custom}/${id}`);
  });
});
