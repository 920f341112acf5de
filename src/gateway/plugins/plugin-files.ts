import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { ApiCompileError } from '../pipeline/step.ts';

/** Script with the name that errors have. */
export interface PluginScript {
  readonly name: string;
  readonly source: string;
}

/** Bound of one script. */
const maxScriptBytes = 1_048_576;
/** Scripts that a folder of an API may hold, per kind of hook. */
const maxFolderScripts = 50;

/** Plugin directory of an organisation: tenants have folders of their own, the operator has the whole directory. */
export const findPluginDirectory = (root: string, orgId: string, isOperator: boolean): string =>
  root === '' || isOperator ? root : join(root, encodeURIComponent(orgId));

/** Reads a script below the plugin directory; links cannot leave it. */
export function readPluginFile(directory: string, path: string, extensions = ['.js']): PluginScript {
  if (directory === '')
    throw new ApiCompileError(`the plugin ${path} is a file, and the setting plugins.directory is empty`);
  if (!extensions.some(extension => path.endsWith(extension)))
    throw new ApiCompileError(`the plugin ${path} is not a ${extensions.join(' or ')} file`);
  // Before any access, so that errors do not reveal which files exist elsewhere.
  if (!resolve(directory, path).startsWith(resolve(directory) + sep))
    throw new ApiCompileError(`the plugin ${path} is not below plugins.directory`);
  try {
    const root = realpathSync(directory);
    const file = realpathSync(resolve(root, path));
    if (!file.startsWith(root + sep)) throw new ApiCompileError(`the plugin ${path} is not below plugins.directory`);
    const { size } = statSync(file);
    if (size > maxScriptBytes) throw new ApiCompileError(`the plugin ${path} is larger than ${maxScriptBytes} bytes`);
    return { name: basename(path), source: readFileSync(file, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ApiCompileError(`the plugin ${path} cannot be read: ${code}`);
  }
}

/** Decodes a script of a definition. */
export function decodePluginCode(code: string, name: string): PluginScript {
  const text = code.replaceAll(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw new ApiCompileError(`the code of the plugin ${name} is not base64`);
  const source = Buffer.from(text, 'base64').toString();
  if (source.length > maxScriptBytes)
    throw new ApiCompileError(`the plugin ${name} is larger than ${maxScriptBytes} bytes`);
  return { name: `${name}.js`, source };
}

/** Hook of a script in the folder of an API. */
export interface FolderPlugin {
  readonly functionName: string;
  readonly path: string;
  readonly requireSession: boolean;
}

const sessionSuffix = '_with_session';

/** Extension of the files that are loaded from the folder of an API, by driver; others load none. */
const folderExtensions: ReadonlyMap<string, string> = new Map([
  ['', '.js'],
  ['otto', '.js'],
  ['javascript', '.js'],
  ['typescript', '.ts'],
]);

/** Names of folders below the folder of an API, by list of hooks. */
export const hookFolders = { pre: 'pre', auth: 'auth', postAuth: 'post_auth', post: 'post' } as const;

/** Folder of an API whose scripts run without being named; undefined where its driver or id has none. */
export function findScriptFolder(directory: string, apiId: string, driver: string): string | undefined {
  if (directory === '' || !folderExtensions.has(driver)) return undefined;
  return /^[\w.-]+$/.test(apiId) && !/^\.+$/.test(apiId) ? join(directory, apiId) : undefined;
}

/** Scripts in `<directory>/<API id>/<folder>/`: the hook is the file name up to the first dot. */
export function listFolderPlugins(directory: string, apiId: string, folder: string, driver: string): FolderPlugin[] {
  const parent = findScriptFolder(directory, apiId, driver);
  if (parent === undefined) return [];
  let names: string[];
  try {
    names = readdirSync(join(parent, folder));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new ApiCompileError(`the plugin folder ${apiId}/${folder} cannot be read: ${code}`);
  }
  const scripts = names.filter(name => name.endsWith(folderExtensions.get(driver)!)).sort();
  if (scripts.length > maxFolderScripts)
    throw new ApiCompileError(`the plugin folder ${apiId}/${folder} has more than ${maxFolderScripts} scripts`);
  return scripts.map(name => {
    const [functionName = ''] = name.split('.', 1);
    return { functionName, path: join(apiId, folder, name), requireSession: functionName.endsWith(sessionSuffix) };
  });
}
