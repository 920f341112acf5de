import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '#base/object-files/environment-references.ts';
import {
  createObjectReader,
  type FileFault,
  listObjectFiles,
  type ObjectFile,
} from '#base/object-files/object-directory.ts';
import type { catalogue } from '../catalogue.ts';
import {
  type FileFormat,
  fileKinds,
  formatObjectFile,
  kindDirectories,
  type ObjectExport,
  resolveExported,
  toFilePath,
} from './configuration-files.ts';
import type { SurfaceClient } from './surface-client.ts';

type ConfigurationOperations = readonly Extract<(typeof catalogue)[number], { path: `/api/configuration${string}` }>[];
export type ConfigurationClient = SurfaceClient<ConfigurationOperations>;

const exportPageSize = 1000;

/** Reads the whole configuration, page by page. */
export async function fetchConfiguration(
  call: ConfigurationClient,
  onProgress: (text: string) => void,
): Promise<{ objects: ObjectExport[]; kinds: ReadonlySet<string>; warnings: string[] }> {
  const objects: ObjectExport[] = [];
  const kinds = new Set<string>();
  const warnings: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: ConfigurationPage = await call('GET /api/configuration', { query: { after, size: exportPageSize } });
    objects.push(...page.objects);
    for (const kind of page.kinds) kinds.add(kind);
    warnings.push(...(page.warnings ?? []));
    onProgress(`${objects.length} objects read`);
    after = page.next;
  }
  return { objects, kinds, warnings };
}

interface ConfigurationPage {
  readonly objects: readonly ObjectExport[];
  readonly kinds: readonly string[];
  readonly next?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
}

/** Objects of a directory, compared with those of a gateway. */
export interface ConfigurationSet {
  readonly objects: readonly ObjectFile[];
  readonly faults: readonly FileFault[];
  /** Kinds that have a directory or a file. */
  readonly kinds: ReadonlySet<string>;
  /** True where every file is exactly the export of its object, and no secret is set. */
  readonly isExport: boolean;
}

interface ReadSetOptions {
  readonly directory: string;
  readonly environment: Environment;
  readonly exported: readonly ObjectExport[];
  readonly onProgress: (text: string) => void;
}

const objectsPerProgress = 500;

/** Reads a directory. A file whose text is the export of its object is not parsed: most files of a diff are equal. */
export function readConfigurationSet({
  directory,
  environment,
  exported,
  onProgress,
}: ReadSetOptions): ConfigurationSet {
  const reader = createObjectReader({ directory, kinds: fileKinds, environment });
  const byPath = new Map(exported.map(object => [withoutExtension(toFilePath(object, 'yaml')), object]));
  const objects: ObjectFile[] = [];
  const files = listObjectFiles(directory);
  let isExport = true;
  for (const file of files) {
    const text = reader.readText(file);
    if (text === undefined) continue;
    const candidate = byPath.get(withoutExtension(file));
    const isEqual = candidate && text === formatObjectFile(candidate, formatOf(file));
    const object = isEqual
      ? reader.add({ ...resolveExported(candidate, environment), file })
      : reader.parse(file, text);
    if (!isEqual || object?.spec !== candidate.spec) isExport = false;
    if (object) objects.push(object);
    if (objects.length % objectsPerProgress === 0) onProgress(`${objects.length} of ${files.length} files read`);
  }
  const kinds = new Set(objects.map(({ kind }) => kind));
  for (const [kind, folder] of Object.entries(kindDirectories))
    if (existsSync(join(directory, folder))) kinds.add(kind);
  return { objects, faults: reader.faults, kinds, isExport };
}

const withoutExtension = (file: string) => file.replace(/\.(?:ya?ml|json)$/, '');
export const formatOf = (file: string): FileFormat => (file.endsWith('.json') ? 'json' : 'yaml');

/** True where a file already stands for an exported object, as it is or through references. */
export const isSameObject = ({ spec }: ObjectFile, exported: ObjectExport): boolean =>
  isDeepStrictEqual(spec, exported.spec);
