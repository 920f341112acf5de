import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { checkClassic } from '#definition/classic.ts';
import { convertToClassic, convertToOas } from '#definition/convert.ts';
import { features } from '#definition/definition.ts';
import { classicToModel, type Model, oasToModel, type VersionModel } from '#definition/model.ts';
import { checkOas } from '#definition/oas.ts';
import type { ClassicDefinition, OasDefinition } from '#definition/wire-types.ts';
import { order } from '#gateway/steps/order.ts';
import {
  definitionFiles,
  type Example,
  endings,
  type Form,
  fileOf,
  folder,
  forms,
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
  for (const form of forms) {
    const count = definitionFiles.filter(file => file.endsWith(endings[form])).length;
    assert.ok(count >= 20, `${count} in the form ${form}`);
  }
  const expected = [...examples.keys()].flatMap(name => forms.flatMap(form => fileOf(name, form) ?? []));
  assert.deepEqual(definitionFiles, expected.sort());
  for (const [name, example] of examples)
    assert.ok(describeExample(name, example), `${name} does not say what it shows`);
});

test('the page of examples is up to date', () => {
  assert.equal(textOf('README.md'), page(), 'examples/README.md is stale: run node tests/examples/page.ts');
});

/** Records the outcome of requests and takes no decision that could be explained. */
const silentSteps = ['unsupported', 'named-policies', 'discovery'];
/** Plugins, GraphQL; and checks against a document, of which the classic form has none. */
const otherFeatures = ['classic.validateRequest', 'virtualEndpoint', 'endpointPlugin', 'persistGraphql'];

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
  /** Both forms are the same API with the same keys and policies: each has a gateway of its own. */
  const appFor = ({ settings = {} }: Example, form: Form) => {
    const name = JSON.stringify([form, settings]);
    const app = apps.get(name) ?? around.start(settings);
    apps.set(name, app);
    return app;
  };

  test('they are published as documented', async () => {
    const { url, directory } = await appFor({ calls: [] }, 'classic');
    await walkOf('examples/README.md').run({ CONTROL: url.dashboard, GATEWAY: url.gateway, DATA: directory });
  });

  for (const form of forms)
    for (const [name, example] of [...examples].filter(([it]) => fileOf(it, form)))
      test(`${name} (${form})`, async () => {
        for (const step of await run(placeOf(around, await appFor(example, form)), name, form, example))
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
  for (const form of forms) {
    const used = definitionFiles
      .filter(file => file.endsWith(endings[form]))
      .flatMap(file => modelOf(readExample(file), form).versions)
      .flatMap(({ endpoints }) => Object.entries(endpoints))
      .filter(([, entries]) => entries.some(({ enabled }) => enabled))
      .map(([name]) => name);
    const sayable = Object.entries(features).filter(([, feature]) => feature[form]);
    const names = sayable
      .map(([name]) => name)
      .filter(name => !otherFeatures.includes(name) && !otherFeatures.includes(`${form}.${name}`));
    assert.deepEqual(
      names.filter(name => !used.includes(name)),
      [],
      form,
    );
  }
});

const modelOf = (definition: JsonObject, form: Form): Model =>
  form === 'classic' ? classicToModel(definition as ClassicDefinition) : oasToModel(definition as OasDefinition);

/** What the OpenAPI form says in its own way, or need not say. */
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

for (const file of definitionFiles.filter(it => it.endsWith(endings.oas)))
  test(`${file} converts to a classic definition and back without loss`, () => {
    const document = readExample(file) as OasDefinition;
    const classic = convertToClassic(document);
    assert.deepEqual(checkClassic(classic), { ok: true, definition: classic });
    assert.deepEqual(toComparable(oasToModel(convertToOas(classic))), toComparable(oasToModel(document)));
  });
