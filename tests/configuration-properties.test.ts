import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { policyArbitrary } from './arbitraries/access.ts';
import { definitionArbitrary, oasArbitrary, withoutUnknown } from './arbitraries/definition.ts';
import { startApp, type TestApp } from './support/app.ts';

interface ConfigurationObject {
  kind: string;
  id: string;
  spec: Record<string, unknown>;
  secrets?: (string | number)[][];
}

const prunedKinds = ['api', 'policy', 'webhook', 'template', 'certificate'];
const seed = 20261116;

describe('Configuration, by properties', () => {
  let [source, target]: TestApp[] = [];
  before(async () => {
    [source, target] = [await startApp('sqlite'), await startApp('sqlite')];
  });
  after(async () => {
    await source?.close();
    await target?.close();
  });

  const run = async (app: TestApp, action: string, objects: readonly ConfigurationObject[]) => {
    const body = { objects, prune: prunedKinds };
    return app.ask('POST', `/api/configuration/${action}`, { body });
  };
  const read = async (app: TestApp): Promise<ConfigurationObject[]> =>
    (await app.ask('GET', `/api/configuration?kinds=${prunedKinds.join(',')}&size=2000`)).body.objects;

  const api = (format: 'classic' | 'oas', given: object, at: number): ConfigurationObject => {
    const plain = withoutUnknown(given) as Record<string, unknown>;
    return { kind: 'api', id: `api-${at}`, spec: { format, definition: withRoute(format, plain, at) } };
  };
  /** Every object for itself: one that the arbitrary made unacceptable is left out of the set. */
  async function keepAccepted(objects: readonly ConfigurationObject[]): Promise<ConfigurationObject[]> {
    const { status, body, text } = await run(source!, 'plan', objects);
    if (status === 200) return [...objects];
    assert.equal(status, 400, text);
    const refused = new Set(body.Meta.faults.map(({ kind, id }: ConfigurationObject) => `${kind} ${id}`));
    return keepAccepted(objects.filter(({ kind, id }) => !refused.has(`${kind} ${id}`)));
  }

  test('apply(export(x)) = x: an export changes nothing where it comes from, and is equal elsewhere', {
    timeout: 240_000,
  }, async () => {
    let accepted = 0;
    const sets = fc.record({
      classic: fc.array(definitionArbitrary(), { maxLength: 4 }),
      oas: fc.array(oasArbitrary(), { maxLength: 4 }),
      policies: fc.array(policyArbitrary(), { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(sets, async ({ classic, oas, policies }) => {
        const given = [
          ...classic.map((it, at) => api('classic', it, at)),
          ...oas.map((it, at) => api('oas', it, at + 10)),
          ...policies.map((it, at) => toPolicy(it, at)),
        ];
        const objects = await keepAccepted(JSON.parse(JSON.stringify(given)) as ConfigurationObject[]);
        accepted += objects.length;
        const { body: planned } = await run(source!, 'plan', objects);
        const { body: applied, text } = await run(source!, 'apply', objects);
        assert.equal(applied.Status, 'OK', text);
        assert.deepEqual(applied.Meta, planned.Meta, 'apply does what plan reported');
        const exported = await read(source!);
        assert.equal(exported.length, objects.length);
        for (const sent of [objects, exported]) {
          const { body: again } = await run(source!, 'plan', sent);
          assert.deepEqual(again.Meta.changes, []);
        }
        const elsewhere = exported.map(object => supplySecrets(object, objects));
        const { body: copied } = await run(target!, 'apply', elsewhere);
        assert.equal(copied.Status, 'OK', copied.Message);
        assert.deepEqual(await read(target!), exported);
      }),
      { seed, numRuns: 25, endOnFailure: true },
    );
    assert.ok(accepted >= 25, `${accepted} objects were accepted`);
  });

  test('apply(permutation): routes of APIs and names of policies are exchanged in any cycles by one apply', async () => {
    const count = 6;
    const numbers = Array.from({ length: count }, (_none, at) => at);
    const order = fc.shuffledSubarray(numbers, { minLength: count });
    await fc.assert(
      fc.asyncProperty(order, order, order, async (paths, domains, names) => {
        const objects = numbers.flatMap(at => [
          toRouted(at, { path: paths[at]!, domain: domains[at]! % 2, name: names[at]! }),
          toPolicy({ rate: 1, per: 1 }, at, `Policy ${names[at]}`),
        ]);
        const { body: applied, text } = await run(source!, 'apply', objects);
        assert.equal(applied.Status, 'OK', text);
        const { body: again } = await run(source!, 'plan', objects);
        assert.deepEqual(again.Meta.changes, []);
      }),
      { seed, numRuns: 20, endOnFailure: true },
    );
  });
});

function withRoute(
  format: 'classic' | 'oas',
  definition: Record<string, unknown>,
  at: number,
): Record<string, unknown> {
  if (format === 'classic') {
    const { id: _id, api_id: _apiId, org_id: _org, proxy, ...rest } = definition;
    return { ...rest, proxy: { ...(proxy as object), listen_path: `/path-${at}/` } };
  }
  const extension = definition['x-gw-api-gateway'] as Record<string, Record<string, unknown>>;
  const { id: _id, dbId: _dbId, orgId: _org, ...info } = extension.info as Record<string, unknown>;
  const server = {
    ...extension.server,
    listenPath: { ...(extension.server?.listenPath as object), value: `/path-${at}/` },
  };
  return { ...definition, 'x-gw-api-gateway': { ...extension, info, server } };
}

interface RoutedApi {
  readonly path: number;
  readonly domain: number;
  readonly name: number;
}

/** An API whose route and name are those of the numbers. */
function toRouted(at: number, { path, domain, name }: RoutedApi): ConfigurationObject {
  const definition = {
    ...{ name: `Name ${name}`, active: true, use_keyless: true, domain: `d${domain}.example` },
    proxy: { listen_path: `/p${path}/`, target_url: 'http://127.0.0.1:9/', strip_listen_path: true },
  };
  return { kind: 'api', id: `routed-${at}`, spec: { format: 'classic', definition } };
}

function toPolicy(given: object, at: number, name = `Policy ${at}`): ConfigurationObject {
  const { id: _id, _id: _databaseId, ...spec } = given as Record<string, unknown>;
  return { kind: 'policy', id: `policy-${at}`, spec: { ...spec, name } };
}

/** Puts the secrets that were sent at first in place of their masks. */
function supplySecrets(
  { secrets = [], ...object }: ConfigurationObject,
  sent: readonly ConfigurationObject[],
): ConfigurationObject {
  const original = sent.find(({ kind, id }) => kind === object.kind && id === object.id)!;
  const spec = structuredClone(object.spec);
  for (const path of secrets) {
    const holder = path
      .slice(0, -1)
      .reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, spec);
    holder[path.at(-1)!] = path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], original.spec);
  }
  return { ...object, spec };
}
