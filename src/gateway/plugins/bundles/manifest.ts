import { createHash, type KeyObject, verify } from 'node:crypto';
import { posix } from 'node:path';
import { isObject } from '#base/json-tree.ts';
import { openZip, type ZipArchive } from '#base/zip.ts';
import { classicToModel, type Model } from '#definition/model.ts';

/** Archive of a bundle, and its files together. */
export const maxBundleBytes = 16_777_216;
const maxBundleFiles = 500;
const manifestName = 'manifest.json';

/** The bundle cannot be used; the message is for operators. */
export class BundleError extends Error {}

type HookLists = Pick<Model['plugins'], 'pre' | 'postAuth' | 'post' | 'response'>;

type RecordPlugin = Model['plugins']['pre'][number];

/** Hooks of a bundle, and the files that it lists. */
export interface Bundle {
  readonly plugins: HookLists;
  readonly custom: Model['custom'];
  readonly idExtractor: Model['idExtractor'];
  readonly driver: Model['pluginConfig']['driver'];
  /** Plugin of analytics records; undefined without one. */
  readonly recordPlugin: RecordPlugin | undefined;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Reads a bundle and checks its files against the checksum and, where a key is set, the signature. */
export function readBundle(archive: Buffer, publicKey: KeyObject | undefined): Bundle {
  const zip = openZip(archive, { maxFiles: maxBundleFiles, maxTotalBytes: maxBundleBytes });
  const manifest = readManifest(zip);
  const files = readListedFiles(zip, manifest.file_list);
  const content = Buffer.concat([...files.values()]);
  validateChecksum(content, manifest.checksum);
  const hooks = readHooks(manifest.custom_middleware);
  if (hooks.recordPlugin?.functionName === '') throw new BundleError('traffic_logs of the bundle has no name');
  if (publicKey) {
    validateSignature(content, manifest.signature, publicKey);
    rejectInlineCode(hooks);
  }
  validatePaths(hooks, files);
  return { ...hooks, files };
}

function readManifest(zip: ZipArchive): Record<string, unknown> {
  const text = zip.read(manifestName);
  if (!text) throw new BundleError(`the bundle has no ${manifestName}`);
  try {
    const manifest: unknown = JSON.parse(text.toString());
    if (isObject(manifest)) return manifest;
  } catch {
    throw new BundleError(`${manifestName} of the bundle is not JSON`);
  }
  throw new BundleError(`${manifestName} of the bundle is not an object`);
}

/** Files outside the list are covered by no checksum and are left out. */
function readListedFiles(zip: ZipArchive, list: unknown): Map<string, Buffer> {
  if (list !== undefined && list !== null && !Array.isArray(list))
    throw new BundleError('file_list of the bundle must be an array');
  const files = new Map<string, Buffer>();
  const names = (list ?? []) as readonly unknown[];
  if (names.length > maxBundleFiles)
    throw new BundleError(`file_list of the bundle has more than ${maxBundleFiles} files`);
  for (const name of names) {
    if (files.has(name as string)) throw new BundleError(`file_list of the bundle names ${JSON.stringify(name)} twice`);
    const content = typeof name === 'string' ? zip.read(name) : undefined;
    if (!content) throw new BundleError(`the bundle has no file ${JSON.stringify(name)}, which its file_list names`);
    files.set(name as string, content);
  }
  return files;
}

const digestNames: Readonly<Record<number, string>> = { 64: 'sha256', 32: 'md5' };

/** SHA-256 or MD5 in hexadecimal digits, by length. */
function validateChecksum(content: Buffer, checksum: unknown): void {
  const given = typeof checksum === 'string' ? checksum.toLowerCase() : '';
  const digest = digestNames[given.length];
  if (!digest) throw new BundleError('the checksum of the bundle is neither SHA-256 nor MD5');
  if (createHash(digest).update(content).digest('hex') !== given)
    throw new BundleError('the checksum of the bundle does not match its files');
}

function validateSignature(content: Buffer, signature: unknown, key: KeyObject): void {
  if (typeof signature !== 'string' || signature === '') throw new BundleError('the bundle is not signed');
  // Ed25519 and Ed448 have a digest of their own.
  const digest = key.asymmetricKeyType?.startsWith('ed') ? null : 'sha256';
  if (!verify(digest, content, key, Buffer.from(signature, 'base64')))
    throw new BundleError('the signature of the bundle is not valid');
}

const toHookModel = (definition: Record<string, unknown>) =>
  classicToModel(definition as Parameters<typeof classicToModel>[0]);

/** Hooks of the section `custom_middleware`, which is that of a classic definition. */
function readHooks(section: unknown): Omit<Bundle, 'files'> {
  if (!isObject(section)) throw new BundleError('the bundle has no custom_middleware');
  const { traffic_logs: recordHook, ...hooks } = section;
  try {
    const { plugins, custom, idExtractor, pluginConfig } = toHookModel({
      custom_plugin_auth_enabled: true,
      custom_middleware: hooks,
    });
    const recordPlugin = isObject(recordHook)
      ? toHookModel({ custom_middleware: { pre: [recordHook] } }).plugins.pre[0]
      : undefined;
    return { plugins, custom, idExtractor, driver: pluginConfig.driver, recordPlugin };
  } catch (error) {
    throw new BundleError(`custom_middleware of the bundle is invalid: ${(error as Error).message}`);
  }
}

const listHooks = ({ plugins: { pre, postAuth, post, response }, custom, recordPlugin }: Omit<Bundle, 'files'>) => [
  ...pre,
  ...postAuth,
  ...post,
  ...response,
  custom,
  ...(recordPlugin ? [recordPlugin] : []),
];

/** The signature covers the files, not the manifest: code in the manifest would be unsigned code. */
function rejectInlineCode(hooks: Omit<Bundle, 'files'>): void {
  if (listHooks(hooks).some(({ code }) => code !== ''))
    throw new BundleError('hooks of a signed bundle must be files: code in the manifest is not signed');
}

/** Hooks use files of the list only: a path cannot leave the folder. */
function validatePaths(hooks: Omit<Bundle, 'files'>, files: ReadonlyMap<string, Buffer>): void {
  for (const { path, code } of listHooks(hooks))
    if (path !== '' && code === '' && !files.has(posix.normalize(path)))
      throw new BundleError(`the hook file ${path} is not in the file_list of the bundle`);
}
