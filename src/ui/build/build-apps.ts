import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import { build, type Rolldown } from 'vite';
import {
  type BuildIndex,
  type BuiltFile,
  buildIndexFile,
  type ContentCoding,
  codingSuffix,
  isCompleteBuild,
} from '#operations/web-app/built-app.ts';
import { webAppAssetPath } from '#operations/web-app/routes.ts';
import { appNames, renderDocument } from './document.ts';

const root = join(import.meta.dirname, '..');
/** Builds of other sources that stay: a process that runs on older sources still serves its own. */
const maxOtherBuilds = 2;
/** Newest two versions at the time of writing and older ones that have `light-dark()` and `oklch()`. */
const browsers = ['chrome125', 'firefox128', 'safari18'];
/** Below this size compressing gains nothing. */
const minCompressedBytes = 512;

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Builds every web app into a directory, which appears complete or not at all. */
export async function buildApps(target: string): Promise<void> {
  if (await isCompleteBuild(target)) return;
  const draft = `${target}.draft-${process.pid}`;
  try {
    const { output } = (await build({
      configFile: false,
      root,
      base: webAppAssetPath,
      logLevel: 'warn',
      mode: 'production',
      cacheDir: join(draft, '.vite'),
      resolve: { tsconfigPaths: false },
      plugins: [tailwind()],
      build: {
        outDir: draft,
        emptyOutDir: false,
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        reportCompressedSize: false,
        target: browsers,
        rolldownOptions: {
          // Directives of server rendering in packages: there is none here.
          onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
          input: {
            ...Object.fromEntries(appNames.map(name => [name, join(root, name, 'main.tsx')])),
            theme: join(root, 'kit/theme-start.ts'),
          },
          output: { entryFileNames: 'assets/[name]-[hash].js', chunkFileNames: 'assets/[name]-[hash].js' },
        },
      },
    })) as Rolldown.RolldownOutput;
    rmSync(join(draft, '.vite'), { recursive: true, force: true });
    writeIndex(draft, output);
    await publish(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  removeOtherBuilds(target);
}

function writeIndex(draft: string, output: Rolldown.RolldownOutput['output']): void {
  const files: Record<string, BuiltFile> = {};
  for (const name of listFiles(draft)) files[name] = compress(draft, name);
  const documents = Object.fromEntries(appNames.map(name => [name, renderDocument(name, output)]));
  const index: BuildIndex = { documents, files };
  writeFileSync(join(draft, buildIndexFile), JSON.stringify(index));
}

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1));

function compress(folder: string, name: string): BuiltFile {
  const type = types[extname(name)];
  if (type === undefined) throw new Error(`the build has a file of unknown type: ${name}`);
  const path = join(folder, name);
  const content = readFileSync(path);
  if (content.length < minCompressedBytes) return { type, encodings: [] };
  const brotli = {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  };
  writeFileSync(path + codingSuffix.br, brotliCompressSync(content, brotli));
  writeFileSync(path + codingSuffix.gzip, gzipSync(content, { level: 9 }));
  return { type, encodings: ['br', 'gzip'] satisfies ContentCoding[] };
}

/** Another process may have built the same sources at the same time: its result is as good, but not what is left of one. */
async function publish(draft: string, target: string): Promise<void> {
  if (existsSync(target) && !(await isCompleteBuild(target))) rmSync(target, { recursive: true, force: true });
  try {
    renameSync(draft, target);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EEXIST', 'ENOTEMPTY'].includes(code)) throw error;
  }
}

function removeOtherBuilds(target: string): void {
  const folder = dirname(target);
  const others = readdirSync(folder)
    .filter(name => /^[0-9a-f]{32}$/.test(name) && join(folder, name) !== target)
    .map(name => ({ path: join(folder, name), time: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  for (const { path } of others.slice(maxOtherBuilds)) rmSync(path, { recursive: true, force: true });
}
