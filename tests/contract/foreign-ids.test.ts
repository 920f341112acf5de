import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildBodyExample } from '#operations/openapi.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, type Asked, onEveryEngine } from '../support/app.ts';
import { createObjects, flipId, type ObjectIds as Ids, noIds } from '../support/organisation-objects.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Ids of another organisation in every path parameter of every dashboard operation. */

type Each = (typeof catalogue)[number];

const withIds = (catalogue as readonly Each[]).filter(it => it.surface === 'dashboard' && it.path.includes('{'));
/** The example without references to objects that the organisation does not have. */
const toAcceptedBody = (it: Each) =>
  JSON.parse(
    JSON.stringify(buildBodyExample(it), (name, value) => (referenceNames.includes(name) ? undefined : value)),
  );
const referenceNames = ['access_rights', 'access_rights_array', 'userIds', 'userGroupIds', 'group_id', 'policy_id'];

const toPath = (it: Each, ids: Ids) =>
  it.path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) => {
    assert.ok(ids[name] !== undefined, `${it.path}: the test has no ${name}`);
    return encodeURIComponent(ids[name]).replaceAll('%2F', '/');
  });

/** Ids of the same form that no object has. */
const toUnknown = (ids: Ids): Ids =>
  Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, name in noIds ? id : flipId(id)]));

const mask = ({ text }: Answer, ids: Ids) =>
  Object.entries(ids)
    .filter(([name]) => !(name in noIds))
    .reduce((masked, [, id]) => masked.replaceAll(id, '…'), text);

onEveryEngine('Ids of another organisation', app => {
  let upstream: Upstream;
  let ids: Ids;
  let credential: string;
  let stored: unknown;
  before(async () => {
    upstream = await startUpstream();
    ids = await createObjects(app(), upstream.url);
    ({ accessKey: credential } = await app().stranger());
    stored = await readAll();
  });
  after(() => upstream.close());

  const readable = withIds.filter(it => it.method === 'GET' && !/deliver|audit|usage|activity|system/.test(it.path));
  async function readAll() {
    const found: Record<string, unknown> = {};
    for (const it of readable) found[it.name] = (await app().ask('GET', toPath(it, ids))).body;
    return found;
  }

  for (const it of withIds) {
    describe(it.name, () => {
      test('responds to the id of an object of another organisation as to an unknown one', async () => {
        const type = typeof it.accepts === 'object' ? it.accepts.only[0]! : 'application/json';
        const asked: Asked = {
          credential,
          ...(it.body ? { body: JSON.stringify(toAcceptedBody(it)), headers: { 'content-type': type } } : {}),
        };
        const unknown = toUnknown(ids);
        const first = await app().ask(it.method, toPath(it, unknown), asked);
        const second = await app().ask(it.method, toPath(it, ids), asked);
        assert.equal(second.status, first.status, `${first.text} ${second.text}`);
        assert.equal(mask(second, ids), mask(first, unknown));
      });
    });
  }

  test('no object of the other organisation has changed', async () => {
    assert.deepEqual(await readAll(), stored);
  });
});
