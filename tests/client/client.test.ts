import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { onEveryEngine } from '../support/app.ts';
import { makeAuthority } from '../support/certificates.ts';
import { eventually, startUpstream, type Upstream } from '../support/upstream.ts';
import type { StoryPlaces } from './story-places.ts';

/** A client of a public generator: its types come from the OpenAPI document of the dashboard listener. */

const root = resolve(import.meta.dirname, '../..');
/** Generating and compiling the types takes most of the processor for seconds, on a loaded machine for minutes. */
const generationTimeoutMs = 300_000;
const run = promisify(execFile);

const compilerApi = new URL('./compiler-api.ts', import.meta.url).href;

/** The generator needs the compiler API, which the `typescript` package has no longer since version 7. */
async function generateTypes(document: object): Promise<string> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'typescript' ? compilerApi : specifier, context),
  });
  try {
    const { default: openapiTypes, astToString } = await import('openapi-typescript');
    return astToString(await openapiTypes(document as Parameters<typeof openapiTypes>[0]));
  } finally {
    hooks.deregister();
  }
}

/** Folder with the story and the generated types, below the packages that they import. */
async function writeClient(document: object): Promise<string> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'client-'));
  for (const name of ['story.ts', 'story-places.ts']) copyFileSync(join(import.meta.dirname, name), join(folder, name));
  writeFileSync(join(folder, 'schema.ts'), await generateTypes(document));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const config = {
    extends: join(root, 'tsconfig.json'),
    include: ['*.ts'],
    compilerOptions: { lib: ['esnext', 'dom'] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  return folder;
}

/** Not a literal, so that the compiler finds the story beside the generated types only. */
const storyUrl = new URL('story.ts', import.meta.url).href;

onEveryEngine('A generated client', (app, engine) => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  // The document does not depend on the engine.
  if (engine === 'sqlite')
    test('type-checks against the types of the document', { timeout: generationTimeoutMs }, async () => {
      const document = (await (await fetch(`${app().url.dashboard}/openapi.json`)).json()) as object;
      const folder = await writeClient(document);
      try {
        const compiler = join(root, 'node_modules/.bin/tsc');
        const { stdout } = await run(compiler, ['-p', join(folder, 'tsconfig.json')]).catch(error => error);
        assert.equal(stdout, '');
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

  test('leads from an empty installation to traffic and its analytics', async () => {
    const { runStory } = (await import(storyUrl)) as { runStory(places: StoryPlaces): Promise<void> };
    await runStory({
      dashboard: app().url.dashboard,
      gateway: app().url.gateway,
      adminSecret: app().credentials.admin_secret,
      upstream: upstream.url,
      certificate: makeAuthority().certPem,
      waitUntilServed: () => app().application.waitForDataPlane(),
      eventually: check => eventually(check),
    });
  });
});
