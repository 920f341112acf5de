import { spawnSync } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { useCompileCache, writeCompileCache } from '../src/base/compile-cache.ts';
import { loadJose, loadUndici, loadYaml } from '../src/base/lazy-packages.ts';
import { disablePretenuring, exposeCollection } from '../src/base/v8-flags.ts';
import { loadGoTemplate, loadJq } from '../src/languages/lazy-languages.ts';

/**
 * Run once after `npm ci`. Removes the C++ headers that come with Node (67 MB: nothing here is compiled natively), and
 * fills the compile cache under the flags of a start, so that the first start is as quick as the next.
 */
const root = join(import.meta.dirname, '..');
for (const headers of globSync('node_modules/node/node_modules/node-*/include', { cwd: root }))
  rmSync(join(root, headers), { recursive: true, force: true });

disablePretenuring();
exposeCollection();
useCompileCache();
await import('../src/application.ts');
await import('../src/gateway/runtime/thread.ts');
for (const load of [loadUndici, loadJose, loadYaml, loadGoTemplate, loadJq]) load();
writeCompileCache();
// The command itself, which cannot be imported without running.
spawnSync(join(root, 'bin/gw'), ['--version'], { stdio: 'ignore' });
