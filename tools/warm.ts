import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { useCompileCache, writeCompileCache } from '../src/base/compile-cache.ts';
import { loadJose, loadRe2, loadUndici, loadYaml } from '../src/base/lazy-packages.ts';
import { disablePretenuring, exposeCollection } from '../src/base/v8-flags.ts';

/**
 * Run once after `npm ci`. Removes the C++ headers that come with Node (67 MB: nothing here is compiled natively) and
 * the translations of zod (50 files that every thread would load, 4 MB of an idle process; English has its own import),
 * fills the compile cache under the flags of a start, so that the first start is as quick as the next, and builds the web
 * apps.
 */
const root = join(import.meta.dirname, '..');
for (const headers of globSync('node_modules/node/node_modules/node-*/include', { cwd: root }))
  rmSync(join(root, headers), { recursive: true, force: true });
const translations = join(root, 'node_modules/zod/v4/locales/index.js');
const noTranslations = 'export {};\n';
if (readFileSync(translations, 'utf8') !== noTranslations) {
  // The file may be a hard link of a package store: it is replaced, never written to.
  rmSync(translations);
  writeFileSync(translations, noTranslations);
}

/** Modules that the product loads on first use: without an entry each thread would load a TypeScript parser for them. */
function listLazyModules(): Set<string> {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['src/ui/**', '**/*.test.ts', 'src/main.ts'] });
  const imported = /(?<!typeof )\b(?:require|import)\('(\.{1,2}\/[^']+\.ts)'\)/g;
  return new Set(
    files.flatMap(file =>
      [...readFileSync(join(root, file), 'utf8').matchAll(imported)].map(([, path]) =>
        join(root, dirname(file), path!),
      ),
    ),
  );
}

disablePretenuring();
exposeCollection();
useCompileCache();
await import('../src/application.ts');
await import('../src/gateway/runtime/thread.ts');
for (const load of [loadUndici, loadJose, loadRe2, loadYaml]) load();
for (const file of listLazyModules()) await import(file);
writeCompileCache();
// The web apps, so that the first start has them. An image without them is not built; after `npm ci` the first start retries.
const webApps = spawnSync(process.execPath, ['--no-warnings', join(root, 'src/ui/build/main.ts')], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (webApps.status !== 0) process.exitCode = 1;
// The command itself, which cannot be imported without running.
spawnSync(join(root, 'bin/gw'), ['--version'], { stdio: 'ignore' });
