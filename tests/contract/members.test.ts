import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isClosed } from '#base/members.ts';
import { surfaces } from '#operations/surfaces.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';
import { type Place, placesOf } from './members.ts';

/** What every operation with a body promises about members that it does not declare, and about `null`. */

type Each = (typeof catalogue)[number];

let app: TestApp;
before(async () => {
  app = await startApp('sqlite');
});
after(() => app?.close());

const contentType = ({ accepts }: Each) => (typeof accepts === 'object' ? accepts.only[0]! : 'application/json');
const pathFor = (it: Each) => it.path.replaceAll(/\{[\w-]+\}/g, 'nothing-is-called-this');
const send = (it: Each, body: unknown): Promise<Answer> =>
  it.accepts === 'form'
    ? app.ask(it.method, pathFor(it), {
        body: new URLSearchParams(body as Record<string, string>).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    : app.ask(it.method, pathFor(it), { body: JSON.stringify(body), headers: { 'content-type': contentType(it) } });

const isEffective = (schema: { _zod: { def: unknown } }) => {
  const inner = (schema._zod.def as { innerType?: { _zod: { def: { type: string } } } }).innerType;
  return inner?._zod.def.type !== 'unknown';
};
const isOpen = ({ object }: Place) => object.catchall !== undefined && !isClosed(asSchema(object));
const asSchema = (def: Place['object']) => ({ _zod: { def } }) as unknown as Parameters<typeof isClosed>[0];

const withBody = (catalogue as readonly Each[]).filter(it => it.body && placesOf(it.body).length > 0);

describe('Unknown members', () => {
  for (const it of withBody) {
    const places = placesOf(it.body!);
    test(`${it.name} refuses a misspelt member in each of its ${places.length} objects, with path and nearest name`, async () => {
      for (const place of places.filter(each => !isOpen(each))) {
        const known = Object.keys(place.object.shape).find(name => isEffective(place.object.shape[name]!));
        const at = (name: string) => {
          // A name with a dot is quoted, so that it is no path.
          if (name.includes('.')) return `${place.path}["${name}"]`;
          return place.path ? `${place.path}.${name}` : name;
        };
        const answer = await send(it, place.body({ [`${known ?? ''}qq`]: 1 }));
        assert.equal(answer.status, surfaces[it.surface].invalidStatus, `${at('')}: ${answer.text}`);
        const message = `${at(`${known ?? ''}qq`)}: no such member${known ? `; did you mean ${known}?` : ''}`;
        assert.ok(answer.text.replaceAll('\\"', '"').includes(message), `${message}: ${answer.text}`);
      }
    });

    test(`${it.name} treats null of an optional member as absent`, async () => {
      if (it.accepts === 'form') return;
      for (const place of places) {
        const optional = Object.entries(place.object.shape).filter(([, member]) => member._zod.optin !== undefined);
        const { text, status } = await send(it, place.body(Object.fromEntries(optional.map(([name]) => [name, null]))));
        assert.ok(status < 500, text);
        assert.doesNotMatch(text, /received null|no such member/, place.path);
        for (const [name] of optional)
          assert.ok(!text.includes(`${place.path ? `${place.path}.` : ''}${name}: expected`), `${name}: ${text}`);
      }
    });
  }

  test('the persistent id of an object of the portal is read-only in every change', () => {
    const changes = withBody.filter(it => it.surface === 'portal' && it.method === 'PUT');
    const withCid = changes.flatMap(it =>
      placesOf(it.body!)
        .filter(({ path, object }) => !path && object.shape.CID)
        .map(({ object }) => ({ name: it.name, isWritable: isEffective(object.shape.CID!) })),
    );
    assert.ok(withCid.length > 5);
    assert.deepEqual(
      withCid.filter(({ isWritable }) => isWritable).map(({ name }) => name),
      [],
    );
  });

  test('free-form objects accept any member', async () => {
    // API definitions, and the configuration of a provider, have a check of their own.
    const own = ['apis[0].api_definition', 'apis[0].oas', 'Configuration.MetaData'];
    const isFree = (it: Each, place: Place) => isOpen(place) && it.accepts !== 'document' && !own.includes(place.path);
    const open = withBody.flatMap(it =>
      placesOf(it.body!).flatMap(place => (isFree(it, place) ? [{ it, place }] : [])),
    );
    assert.ok(open.length > 0);
    for (const { it, place } of open) {
      const { text } = await send(it, place.body({ 'of my own': { deep: [{ any: null }] } }));
      assert.doesNotMatch(text, /of my own/, `${it.name} ${place.path}`);
    }
  });

  test('objects closed by validation are closed in the OpenAPI document', async () => {
    for (const it of withBody) {
      const { body } = await app.ask('GET', `${surfaces[it.surface].prefix}/openapi.json`, { credential: null });
      const { content } = body.paths[it.path][it.method.toLowerCase()].requestBody;
      const { schema } = Object.values(content)[0] as { schema: { anyOf?: object[] } };
      const top = (schema.anyOf?.[0] ?? schema) as { additionalProperties?: unknown };
      const isFree = isOpen(placesOf(it.body!)[0]!);
      assert.equal(top.additionalProperties === false, !isFree, it.name);
    }
  });
});
