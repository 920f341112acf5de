import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import type { JsonObject } from '#base/json-tree.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { facets, features, versionFacets } from '#definition/definition.ts';
import type { DefinitionFormat, Facet, Row } from '#definition/facet.ts';
import { expandAnchor } from '#definition/wire-schema.ts';
import type { Records } from '#storage/records.ts';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { emptyWrapper, type StoredApi } from './schema.ts';
import { sealedPlaceholder } from './sealing.ts';
import { type ApiStore, createApiStore } from './store.ts';

let count = 0;
const plantText = () => `planted-${++count}-in-a-definition`;

function plant(root: JsonObject, path: readonly string[], value: unknown): void {
  const last = path.at(-1)!;
  let at = root;
  for (const segment of path.slice(0, -1)) at = at[segment] = (at[segment] as JsonObject | undefined) ?? {};
  at[last] = value;
}

/** Puts a secret of every shape into the place of each marked row. */
function plantRows(root: JsonObject, rows: readonly Row[], format: DefinitionFormat): void {
  for (const row of rows)
    for (const path of row[format]?.paths ?? []) {
      if (row.secret === 'all') plant(root, expandAnchor(path), plantShapes());
      else if (row.secret === 'named') plant(root, expandAnchor(path), { api_key: plantText(), colour: 'red' });
      else if (row.items && hasSecret(row.items.rows)) {
        const item = {};
        plantRows(item, row.items.rows, format);
        plant(root, expandAnchor(path), row.items.kind === 'list' ? [item] : { any: item });
      }
    }
}

const hasSecret = (rows: readonly Row[]): boolean =>
  rows.some(({ secret, items }) => secret !== undefined || (items && hasSecret(items.rows)));
const plantShapes = () => ({
  text: plantText(),
  list: [plantText()],
  pairs: [{ name: 'X-Name', value: plantText() }],
});

function definitionWithAll(format: DefinitionFormat): JsonObject {
  const root: JsonObject = {};
  for (const { rows } of [...Object.values(facets), ...Object.values(versionFacets)] as unknown as Facet[])
    plantRows(root, rows, format);
  for (const feature of Object.values(features)) {
    const rows = feature.entry.rows as readonly Row[];
    if (feature[format] === null || !hasSecret(rows)) continue;
    const entry = {};
    plantRows(entry, rows, format);
    const above =
      format === 'classic' ? ['version_data', 'versions', '*', 'extended_paths'] : ['middleware', 'operations', '*'];
    plant(root, [...above, feature[format]], format === 'classic' ? [entry] : entry);
  }
  return format === 'classic' ? root : { openapi: '3.0.3', 'x-gw-api-gateway': root };
}

const toStoredApi = (id: string, kind: StoredApi['kind'], definition: JsonObject, more: JsonObject = {}): StoredApi =>
  ({
    ...{ id, org_id: 'org', api_id: `public-${id}`, kind, definition, wrapper: { ...emptyWrapper, more } },
    ...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
    summary: { name: id, domain: '', listen_path: `/${id}`, categories: [], versions: {} },
  }) as unknown as StoredApi;

withRecords('secrets of definitions at rest', records => {
  const vault = createVault(createDataKey());
  let apis: ApiStore;
  before(() => {
    apis = createApiStore(records(), vault, { maxRoutesCompared: 100 });
  });

  for (const format of ['classic', 'oas'] as const)
    test(`every marked field of the ${format} format is sealed in the table and plain in every read`, async () => {
      const first = count;
      const definition = definitionWithAll(format);
      const api = toStoredApi(format, format, definition, { webhook: { headers: { 'X-Hook': plantText() } } });
      assert.ok(count - first > 20, `${count - first} secrets`);
      await apis.insert(api);
      const check = async () => {
        assert.deepEqual(await tableText(records(), 'planted-'), []);
        for (const read of [
          await apis.get('org', api.api_id),
          await apis.getAnywhere(api.id),
          await apis.findByApiId(api.api_id),
          (await apis.findByIds('org', [api.api_id]))[0],
          (await apis.all()).find(({ id }) => id === api.id),
          (await apis.page('org', { name: format }, 'name', { page: 1, size: 10 })).items[0],
        ])
          assert.deepEqual(read, api);
      };
      await check();
      await apis.replace(api);
      await check();
      assert.equal(JSON.stringify((await apis.findByApiId(api.api_id))?.definition), JSON.stringify(api.definition));
    });

  test('references to secrets are not sealed, and no text is mistaken for a sealed one', async () => {
    const texts = ['secrets://named', 'env://NAMED', '$secret_conf.named', sealedPlaceholder, 'v1.AAAA', '["a"]', ''];
    const headers = Object.fromEntries([...texts.entries()].map(([at, text]) => [`x.${at}`, text]));
    const definition = {
      name: sealedPlaceholder,
      sealed: sealedPlaceholder,
      jwt_source: 'a secret',
      version_data: { versions: { 'a.b[0]': { global_headers: { ...headers, ['__proto__']: 'v1.x' } } } },
    };
    const api = toStoredApi('lookalikes', 'classic', JSON.parse(JSON.stringify(definition)), { sealed: 'mine' });
    await apis.insert(api);
    assert.deepEqual(await apis.findByApiId(api.api_id), api);
    const [row] = await tableText(records(), '"lookalikes"');
    for (const named of texts.slice(0, 3)) assert.ok(row!.includes(named), named);
    assert.ok(!row!.includes('v1.AAAA') && !row!.includes('a secret'));
  });

  test('sealed secrets do not decrypt in another row or at another path', async () => {
    for (const id of ['a', 'b'])
      await apis.insert(toStoredApi(`moved-${id}`, 'classic', { jwt_source: `secret of ${id}` }));
    const change = async (id: string, turn: (row: JsonObject) => JsonObject) => {
      const { body } = await records()
        .db.selectFrom('apis')
        .select('body')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const next = JSON.stringify(turn(JSON.parse(body)));
      await records().db.updateTable('apis').set({ body: next }).where('id', '=', id).execute();
      return JSON.parse(body) as JsonObject;
    };
    const { sealed } = await change('moved-a', row => ({ ...row, definition: { jwt_source: 'another' } }));
    await change('moved-b', row => ({ ...row, sealed }));
    for (const id of ['moved-a', 'moved-b'])
      await assert.rejects(apis.getAnywhere(id), { code: 'vault.cannot_open' }, id);
  });
});

async function tableText(records: Records, part: string): Promise<string[]> {
  const { rows } = await sql<{ body: string }>`select body from apis`.execute(records.db);
  return rows.map(({ body }) => body).filter(body => body.includes(part));
}
