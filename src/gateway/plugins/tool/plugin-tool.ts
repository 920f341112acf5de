import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isObject } from '#base/json-tree.ts';
import { writeZip } from '#base/zip-writer.ts';
import { readBundle } from '../bundles/manifest.ts';
import type { GuestImage, GuestSet } from '../sandbox/guest.ts';
import { createScriptSandbox } from '../sandbox/sandbox.ts';
import { createGuestRuntime } from '../typescript/guest-runtime.ts';
import { compileModules, readModuleFiles } from '../typescript/module-files.ts';

export { createTemplate } from './templates.ts';

/** Tools of `gw plugin`: the sandbox and the bundle reader of the gateway, for one file on this machine. */

const limits = { maxMemoryBytes: 16_777_216, maxOutputBytes: 8_388_608, maxLogBytes: 65_536 };
const sliceMs = 5000;
const data = { APIID: 'test', OrgID: 'test' };
const createSandbox = () => createScriptSandbox(limits, () => performance.now());

/** Names of exported hooks, as they are declared. */
const exportPattern = /^export\s+(?:async\s+)?(?:const|let|var|function)\s+([A-Za-z_$][\w$]*)/gm;

function buildSet(file: string, hooks: readonly string[], config: unknown): GuestSet {
  const shared = { owner: 'test', data: { ...data, config_data: config } };
  if (file.endsWith('.js')) {
    const [hook = ''] = hooks;
    const source = readFileSync(file, 'utf8');
    return { ...shared, files: [{ name: basename(file), source, exports: hook }], hooks: [...hooks] };
  }
  const files = compileModules(readModuleFiles(dirname(resolve(file)), basename(file)));
  const [{ name: module } = { name: '' }] = files;
  return {
    ...shared,
    files: [createGuestRuntime()],
    hooks: [],
    modules: { files, hooks: hooks.map(exportName => ({ hook: exportName, module, exportName })) },
  };
}

/** Faults with file and line. Types are left to the compiler of the author. */
export function checkPlugin(file: string): readonly string[] {
  if (!/\.(?:ts|js)$/.test(file)) return [`${file} is not a .ts or .js file`];
  try {
    const source = readFileSync(file, 'utf8');
    const hooks = file.endsWith('.ts')
      ? [...source.matchAll(exportPattern)].map(([, name]) => name!)
      : [...source.matchAll(/^(?:var|let|const)\s+([A-Za-z_$][\w$]*)\s*=\s*new\s+GwJS\./gm)].map(([, name]) => name!);
    if (hooks.length === 0) return [`${basename(file)}:1: the file has no hook`];
    createSandbox().load(buildSet(file, hooks, {}), sliceMs);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Members of an exchange file, each with a default. */
function readExchange(given: unknown) {
  if (!isObject(given)) throw new Error('an exchange is an object');
  const known = ['request', 'response', 'session', 'config', 'responses'];
  const unknown = Object.keys(given).find(name => !known.includes(name));
  if (unknown !== undefined) throw new Error(`an exchange has no ${unknown}: it has ${known.join(', ')}`);
  const { request = {}, response, session, config = {}, responses = [] } = given;
  if (!isObject(request) || (response !== undefined && !isObject(response)) || !Array.isArray(responses))
    throw new Error('request and response of an exchange are objects, and responses is an array');
  return { request, response, session, config, responses: responses as readonly unknown[] };
}

const text = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback);

function listPairs(headers: unknown): string[] {
  if (!isObject(headers)) return [];
  return Object.entries(headers).flatMap(([name, value]) => [name, text(value, String(value))]);
}

interface TestedCall {
  readonly file: string;
  readonly hook: string;
  readonly exchange: unknown;
}

/** Runs a hook with an exchange and returns what it changed. Requests to other servers get `responses` in order. */
export function testPlugin({ file, hook, exchange }: TestedCall): { changes: unknown; logs: readonly string[] } {
  const { request, response, session, config, responses } = readExchange(exchange);
  const sandbox = createSandbox();
  const image = sandbox.load(buildSet(file, [hook], config), sliceMs);
  const url = text(request.url, '/');
  const headers = listPairs(request.headers);
  const own = response ? listPairs(response.headers) : headers;
  const others = response ? headers : [...new URL(url, 'http://localhost').searchParams].flat();
  const head = [
    1,
    response ? 'response' : 'request',
    hook,
    text(request.method, 'GET'),
    url,
    url,
    'http',
    session === undefined ? '' : JSON.stringify(session),
    own.length / 2,
    others.length / 2,
    Number(response?.status ?? 200),
    ...[...own, ...others].map(it => it.replaceAll(/[\r\n]/g, ' ')),
  ].join('\n');
  const body = text((response ?? request).body, '');
  return runToEnd(sandbox, image, { head, body }, responses);
}

type Sandbox = ReturnType<typeof createScriptSandbox>;

function runToEnd(
  sandbox: Sandbox,
  image: GuestImage,
  call: { readonly head: string; readonly body: string },
  responses: readonly unknown[],
) {
  const results: string[] = [];
  for (;;) {
    const outcome = sandbox.run(image, { ...call, nowMs: 0, results, sliceMs, minCpuMs: 0 });
    if (outcome.kind === 'result') return { changes: JSON.parse(outcome.text) as unknown, logs: outcome.logs };
    if (outcome.kind === 'interrupted') throw new Error(`the hook did not end within ${sliceMs} ms`);
    if (outcome.kind === 'failed') throw new Error(`${outcome.fault.at || 'hook'}: ${outcome.fault.message}`);
    const given = responses[results.length];
    if (given === undefined)
      throw new Error(`the hook calls ${outcome.name} with ${outcome.argument}: add its result to responses`);
    results.push(JSON.stringify({ value: outcome.name === 'GwMakeHttpRequest' ? encodeResponse(given) : given }));
  }
}

/** Response of another server as the sandbox gets it. */
function encodeResponse(given: unknown): string {
  const { status = 200, headers = {}, body = '' } = isObject(given) ? given : {};
  const lists = Object.fromEntries(Object.entries(headers as object).map(([name, value]) => [name, [String(value)]]));
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  return JSON.stringify({ Code: status, Body: content, Headers: lists });
}

const maxBundleFiles = 500;

/** Packs a directory with a manifest, or a manifest with the files beside it. Without a list all files are packed. */
export function packBundle(path: string, privateKey: Buffer | undefined): Buffer {
  const isDirectory = statSync(path).isDirectory();
  const folder = isDirectory ? path : dirname(path);
  const manifestFile = isDirectory ? join(path, 'manifest.json') : path;
  const manifest: unknown = JSON.parse(readFileSync(manifestFile, 'utf8'));
  if (!isObject(manifest)) throw new Error(`${manifestFile} is not an object`);
  const names = Array.isArray(manifest.file_list)
    ? manifest.file_list.map(String)
    : listFiles(folder).filter(name => resolve(folder, name) !== resolve(manifestFile));
  const files = new Map(names.map(name => [name, readFileSync(join(folder, name))]));
  const content = Buffer.concat([...files.values()]);
  const key = privateKey && createPrivateKey(privateKey);
  const digest = key?.asymmetricKeyType?.startsWith('ed') ? null : 'sha256';
  const packed = {
    ...manifest,
    file_list: names,
    checksum: createHash('sha256').update(content).digest('hex'),
    signature: key ? sign(digest, content, key).toString('base64') : '',
  };
  const archive = writeZip(new Map([['manifest.json', Buffer.from(JSON.stringify(packed, null, 2))], ...files]));
  const { plugins, custom, driver } = readBundle(archive, key && createPublicKey(key));
  const hookCount = [plugins.pre, plugins.postAuth, plugins.post, plugins.response].flat().length;
  if (hookCount === 0 && custom.functionName === '') throw new Error(`${manifestFile} has no hook`);
  if (driver === '') throw new Error(`${manifestFile} has no driver`);
  return archive;
}

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.startsWith('.') && !entry.name.endsWith('.zip'))
    .map(entry => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
  if (names.length > maxBundleFiles) throw new Error(`${folder} has more than ${maxBundleFiles} files`);
  return names;
}
