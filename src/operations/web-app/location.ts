import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
/** Sources of the web apps, and the code that they share with the server. */
const sourcePatterns = ['src/ui/**/*.{ts,tsx,css,svg}', 'src/base/qr/*.ts'];
const isTest = (file: string) => file.endsWith('.test.ts') || file.endsWith('.test.tsx');

/** Cache key of a build: the sources of the web apps, and the versions of what they are built with. */
export function hashWebAppSources(): string {
  const hash = createHash('sha256');
  const files = globSync(sourcePatterns, { cwd: root }).filter(file => !isTest(file));
  for (const file of ['package.json', ...files.sort()]) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 32);
}

/** Beside the installed packages: write access there is write access to the program anyway. */
export const installedBuilds = join(root, 'node_modules/.cache/gatewright-ui');

/** Directories with builds, in order of preference: of the installation, then of the data directory. */
export const listBuildDirectories = (dataDirectory: string): readonly string[] => [
  installedBuilds,
  join(dataDirectory, 'web-app'),
];
