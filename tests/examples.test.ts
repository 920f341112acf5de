import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { checkClassic } from '#definition/classic.ts';
import { convertToClassic, convertToOas } from '#definition/convert.ts';
import { features } from '#definition/definition.ts';
import type { DefinitionFormat } from '#definition/facet.ts';
import { classicToModel, type Model, oasToModel, type VersionModel } from '#definition/model.ts';
import { checkOas } from '#definition/oas.ts';
import type { ClassicDefinition, OasDefinition } from '#definition/wire-types.ts';
import { order } from '#gateway/steps/order.ts';
import {
  definitionFiles,
  type Example,
  endings,
  fileOf,
  folder,
  formats,
  readExample,
  textOf,
} from './examples/example.ts';
import { examples } from './examples/list.ts';
import { describeExample, page } from './examples/page.ts';
import { placeOf, type Surroundings, surroundings } from './examples/place.ts';
import { run } from './examples/run.ts';
import type { TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';

test('each format has at least twenty examples, each with a description, and the folder has no other file', () => {
  for (const format of formats) {
    const count = definitionFiles.filter(file => file.endsWith(endings[format])).length;
    assert.ok(count >= 20, `${count} in the format ${format}`);
  }
  const expected = [...examples.keys()].flatMap(name => formats.flatMap(format => fileOf(name, format) ?? []));
  assert.deepEqual(definitionFiles, expected.sort());
  for (const [name, example] of examples)
    assert.ok(describeExample(name, example), `${name} does not say what it shows`);
});

test('the page of examples is up to date', () => {
  assert.equal(textOf('README.md'), page(), 'examples/README.md is stale: run node tests/examples/page.ts');
});

/** Records the outcome of requests and takes no decision that could be explained. */
const silentSteps = ['unsupported', 'named-policies', 'discovery', 'resource-challenge'];
/** Checks against a document, of which the classic format has none. */
const otherFeatures = ['classic.validateRequest'];

test('pages name only examples that exist', () => {
  const root = join(folder, '..');
  for (const page of ['README.md', ...globSync('docs/guide/*.md', { cwd: root })])
    for (const [, file] of readFileSync(join(root, page), 'utf8').matchAll(/\(\S*examples\/([\w.-]+)\)/g))
      assert.ok(existsSync(join(folder, file!)), `${page} names ${file}`);
});

describe('Examples', () => {
  let around: Surroundings;
  const apps = new Map<string, Promise<TestApp>>();
  const steps = new Set(silentSteps);
  before(async () => {
    around = await surroundings();
  });
  after(async () => {
    for (const app of apps.values()) await (await app).close();
    await around.close();
  });
  /** Both formats are the same API with the same keys and policies: each has a gateway of its own. */
  const appFor = ({ settings = {} }: Example, format: DefinitionFormat) => {
    const name = JSON.stringify([format, settings]);
    const app = apps.get(name) ?? around.start(settings);
    apps.set(name, app);
    return app;
  };

  test('they are published as documented', async () => {
    const { url, directory } = await appFor({ calls: [] }, 'classic');
    await walkOf('examples/README.md').run({ CONTROL: url.dashboard, GATEWAY: url.gateway, DATA: directory });
  });

  for (const format of formats)
    for (const [name, example] of [...examples].filter(([it]) => fileOf(it, format)))
      test(`${name} (${format})`, async () => {
        for (const step of await run(placeOf(around, await appFor(example, format)), name, format, example))
          steps.add(step);
      });

  test('every step of the gateway has an example', () => {
    const all = order.map(({ step }) => step.name);
    assert.deepEqual(
      all.filter(name => !steps.has(name)),
      [],
    );
  });
});

test('every endpoint feature has an example in every format that supports it', () => {
  for (const format of formats) {
    const used = definitionFiles
      .filter(file => file.endsWith(endings[format]))
      .flatMap(file => modelOf(readExample(file), format).versions)
      .flatMap(({ endpoints }) => Object.entries(endpoints))
      .filter(([, entries]) => entries.some(({ enabled }) => enabled))
      .map(([name]) => name);
    const sayable = Object.entries(features).filter(([, feature]) => feature[format]);
    const names = sayable
      .map(([name]) => name)
      .filter(name => !otherFeatures.includes(name) && !otherFeatures.includes(`${format}.${name}`));
    assert.deepEqual(
      names.filter(name => !used.includes(name)),
      [],
      format,
    );
  }
});

const modelOf = (definition: JsonObject, format: DefinitionFormat): Model =>
  format === 'classic' ? classicToModel(definition as ClassicDefinition) : oasToModel(definition as OasDefinition);

/** Features that the OpenAPI format expresses differently, or not at all. */
const ownWords = new Set(['isOas', 'label', 'useExtendedPaths', 'cachedPaths']);

/** A model without them, and with endpoint lists in one order. */
function toComparable(model: Model): unknown {
  const inOrder = ({ endpoints }: VersionModel) =>
    Object.entries(endpoints).map(([name, list]) => [
      name,
      list.map(entry => JSON.stringify([entry.path, entry.method, entry])).sort(),
    ]);
  const versions = model.versions.map(version => ({ ...version, endpoints: inOrder(version) }));
  const words = JSON.stringify({ ...model, versions }, (name, value) => (ownWords.has(name) ? undefined : value));
  return JSON.parse(words);
}

for (const file of definitionFiles.filter(it => it.endsWith(endings.classic)))
  test(`${file} converts to OpenAPI and back without loss`, () => {
    const classic = readExample(file) as ClassicDefinition;
    const document = convertToOas(classic);
    assert.deepEqual(checkOas(document), { ok: true, definition: document });
    const home = convertToClassic(document);
    assert.deepEqual(checkClassic(home), { ok: true, definition: home });
    assert.deepEqual(toComparable(classicToModel(home)), toComparable(classicToModel(classic)));
  });

/** The classic format has no MCP proxies. */
const isConvertible = (file: string) => file.endsWith(endings.oas) && file !== 'mcp.oas.yaml';

for (const file of definitionFiles.filter(isConvertible))
  test(`${file} converts to a classic definition and back without loss`, () => {
    const document = readExample(file) as OasDefinition;
    const classic = convertToClassic(document);
    assert.deepEqual(checkClassic(classic), { ok: true, definition: classic });
    assert.deepEqual(toComparable(oasToModel(convertToOas(classic))), toComparable(oasToModel(document)));
  });
