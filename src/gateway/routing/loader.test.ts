import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { summarize } from '#apis/api/rules.ts';
import { emptyWrapper, type StoredApi } from '#apis/api/schema.ts';
import { createApiStore } from '#apis/api/store.ts';
import { createConfigReader } from '#apis/config-reader.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';
import { type Bench, openBench, orgId } from '../../../tests/support/step-harness.ts';
import { createPluginBundles } from '../plugins/bundles/plugin-bundles.ts';
import { createPluginServices } from '../plugins/create-plugin-services.ts';
import { createSnapshotLoader } from './loader.ts';
import type { Snapshot } from './snapshot.ts';

function toStored(id: string, more: object): StoredApi {
  const definition = {
    id: `db-${id}`,
    api_id: id,
    org_id: orgId,
    name: id,
    active: true,
    use_keyless: true,
    proxy: { listen_path: `/${id}/`, target_url: 'http://127.0.0.1:1' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  } as unknown as ClassicDefinition;
  return {
    id: `db-${id}`,
    org_id: orgId,
    api_id: id,
    created_at: '2030-01-01T00:00:00Z',
    updated_at: '2030-01-01T00:00:00Z',
    wrapper: emptyWrapper,
    summary: summarize({ kind: 'classic', definition }, emptyWrapper),
    kind: 'classic',
    definition,
  };
}

/** A snapshot whose APIs can be looked up, and not be visited one after the other. */
function forbidVisits({ apis }: Snapshot): void {
  const fail = () => assert.fail('all APIs are visited');
  Object.assign(apis, { values: fail, keys: fail, entries: fail, forEach: fail, [Symbol.iterator]: fail });
}

describe('Snapshot loader', () => {
  let bench: Bench;
  let plugins: ReturnType<typeof createPluginServices>;
  let store: ReturnType<typeof createApiStore>;
  let createLoader: () => ReturnType<typeof createSnapshotLoader>;
  let loader: ReturnType<typeof createSnapshotLoader>;

  before(async () => {
    bench = await openBench();
    const { services, records, reader, vault } = bench;
    const { settings, clock, log } = services;
    plugins = createPluginServices(settings, clock, log);
    store = createApiStore(records, vault, { maxRoutesCompared: 100 });
    createLoader = () =>
      createSnapshotLoader({
        configReader: createConfigReader(reader, vault),
        services: { ...services, ...plugins.services, pluginBundles: createPluginBundles(services) },
        onChanges(changes) {
          services.keyCache.invalidate(changes);
          services.certificates.invalidate(changes);
        },
      });
    loader = createLoader();
  });
  after(async () => {
    await plugins.close();
    await bench.close();
  });

  const write = (id: string, work: () => Promise<unknown>) =>
    bench.records.write(async () => {
      await work();
      bench.records.markChanged('apis', `db-${id}`);
    });
  const add = (id: string, more: object = {}) => write(id, () => store.insert(toStored(id, more)));
  const reasonOf = (id: string) => loader.snapshot().apis.get(id)?.unavailableReason;
  const refreshWithoutVisits = async () => {
    forbidVisits(loader.snapshot());
    await loader.refresh();
  };

  test('a change of one API, policy or certificate visits no other APIs, and compiles those that depend on it', async () => {
    const authority = makeAuthority('loader');
    const certificateId = await bench.certificate(authority.certPem);
    await add('plain');
    await add('jwt', { use_keyless: false, enable_jwt: true, jwt_source: 'a2V5', jwt_default_policies: ['gold'] });
    await add('tls', { use_mutual_tls_auth: true, client_certificates: [certificateId] });
    await loader.refresh();
    const first = loader.snapshot();
    assert.deepEqual([...first.apis.keys()].sort(), ['jwt', 'plain', 'tls']);
    assert.deepEqual([reasonOf('jwt'), reasonOf('tls')], ['the policy gold is missing', '']);

    await bench.policy({ id: 'gold', access_rights: {} });
    await refreshWithoutVisits();
    assert.equal(reasonOf('jwt'), '');
    assert.equal(loader.snapshot().apis.get('plain'), first.apis.get('plain'));

    await bench.certificates.remove(orgId, certificateId);
    await refreshWithoutVisits();
    assert.match(reasonOf('tls')!, /certificate/);

    await write('plain', () => store.replace(toStored('plain', { name: 'renamed' })));
    await refreshWithoutVisits();
    assert.equal(loader.snapshot().findByName(orgId, 'renamed')?.id, 'plain');
    assert.equal(loader.snapshot().findByName(orgId, 'plain')?.name, 'renamed', 'by its id');

    await write('plain', () => store.remove('db-plain'));
    await bench.policies.remove(orgId, 'gold');
    await refreshWithoutVisits();
    assert.deepEqual([...loader.snapshot().apis.keys()].sort(), ['jwt', 'tls']);
    assert.equal(reasonOf('jwt'), 'the policy gold is missing');
    assert.equal(loader.snapshot().router.find('any.example', '/plain/'), undefined);
  });

  test('an API no longer depends on what its changed definition does not reference', async () => {
    await add('left', { use_keyless: false, enable_jwt: true, jwt_source: 'a2V5', jwt_default_policies: ['silver'] });
    await loader.refresh();
    assert.equal(reasonOf('left'), 'the policy silver is missing');
    await write('left', () => store.replace(toStored('left', {})));
    await loader.refresh();
    const compiled = loader.snapshot().apis.get('left');
    await bench.policy({ id: 'silver', access_rights: {} });
    await loader.refresh();
    assert.equal(compiled!.unavailableReason, '');
    assert.equal(loader.snapshot().apis.get('left'), compiled);
  });

  test('an API that is deleted and created again under its id within one round is served once', async () => {
    await add('again');
    await loader.refresh();
    await write('again', () => store.remove('db-again'));
    await bench.records.write(async () => {
      await store.insert({ ...toStored('again', { name: 'second' }), id: 'db-second' });
      bench.records.markChanged('apis', 'db-second');
    });
    await refreshWithoutVisits();
    assert.equal(loader.snapshot().apis.get('again')?.name, 'second');
    assert.equal(loader.snapshot().router.find('any.example', '/again/')?.value.name, 'second');
  });

  test('a change of an organisation compiles its APIs again, and no others', async () => {
    await add('mine');
    await write('theirs', () => store.insert({ ...toStored('theirs', { org_id: 'other' }), org_id: 'other' }));
    await loader.refresh();
    const { apis } = loader.snapshot();
    await bench.records.write(async () => bench.records.markChanged('organisations', 'other'));
    await loader.refresh();
    assert.equal(loader.snapshot().apis.get('mine'), apis.get('mine'));
    assert.notEqual(loader.snapshot().apis.get('theirs'), apis.get('theirs'));
  });

  test('a load of several pages of APIs results in the snapshot of their changes, with overlapping routes', async () => {
    const addOf = (org: string, id: string, listenPath: string, created_at: string) => {
      const proxy = { listen_path: listenPath, target_url: 'http://127.0.0.1:1' };
      const stored = toStored(id, { org_id: org, proxy, domain: id.endsWith('7') ? `${id}.example` : '' });
      return write(id, () => store.insert({ ...stored, org_id: org, created_at }));
    };
    const numbers = Array.from({ length: 220 }, (_, n) => n);
    for (const n of numbers) {
      const org = n % 3 === 0 ? 'other' : orgId;
      // Every tenth shares its path with the one before, which is newer.
      await addOf(
        org,
        `many${n}`,
        `/many${n % 10 === 0 ? n + 1 : n}/`,
        `2030-01-01T00:${String(59 - (n % 60)).padStart(2, '0')}:00Z`,
      );
      if (n % 10 === 9) await loader.refresh();
    }
    const whole = createLoader();
    await whole.refresh();
    const describe = ({ apis, router, guard, subsets, hasTenants, findByName }: Snapshot) => ({
      apis: [...apis.keys()].sort(),
      routes: numbers.map(n => router.find('any.example', `/many${n}/x`, guard)?.value.id),
      named: numbers.map(n => [findByName(orgId, `many${n}`)?.id, findByName('other', `many${n}`)?.id]),
      domains: subsets.tlsConfigured.map(({ id }) => id).sort(),
      hasTenants,
    });
    assert.deepEqual(describe(whole.snapshot()), describe(loader.snapshot()));
    const { routes, domains, hasTenants } = describe(whole.snapshot());
    // A tenth of the paths is of two APIs, a tenth of none, and a tenth of APIs with a domain.
    assert.equal(new Set(routes).size, 177);
    assert.deepEqual([domains.includes('many17'), hasTenants], [true, true]);
  });
});
