import { z } from 'zod';
import { queryFlag } from '#operations/shapes.ts';
import { problem } from '../problems.ts';
import type { DefinitionOfKind, StoredApi } from './schema.ts';

/** Query parameters that make a new API a version of another one; shared by all operations that create APIs. */
const versionName = z.string().max(200).optional();

export const versionQuery = z.object({
  base_api_id: z.string().max(64).optional().describe('Id of the base API of the new version'),
  base_api_version_name: versionName.describe('Version name of the base API; required with its first version'),
  new_version_name: versionName.describe('Name of the new version; required with base_api_id'),
  set_default: queryFlag.optional().describe('Makes the new version the default of requests without a version'),
});
export type VersionOptions = z.output<typeof versionQuery>;

/** Defaults of a first version. */
const defaultVersionLocation = { location: 'header', key: 'x-gw-version' };
const ownName = 'self';

interface VersioningBlock {
  name?: string;
  default?: string;
  location?: string;
  key?: string;
  versions: Record<string, string>;
  rest: Record<string, unknown>;
}

/** Versioning block of a base, in either format. */
function readVersioning({ kind, definition }: DefinitionOfKind): VersioningBlock {
  const versioning = kind === 'classic' ? definition.definition : definition['x-gw-api-gateway'].info.versioning;
  const { versions, ...rest } = versioning ?? {};
  const pairs = Array.isArray(versions) ? versions.map(it => [it.name, it.id]) : Object.entries(versions ?? {});
  return { ...(rest as object), rest, versions: Object.fromEntries(pairs) };
}

function withVersioning<T extends DefinitionOfKind>(
  api: T,
  block: Record<string, unknown>,
  versions: Record<string, string>,
): T {
  if (api.kind === 'classic') {
    return { ...api, definition: { ...api.definition, definition: { ...block, versions } } };
  }
  const gateway = api.definition['x-gw-api-gateway'];
  const list = Object.entries(versions).map(([name, id]) => ({ name, id }));
  const info = { ...gateway.info, versioning: { ...block, versions: list } };
  return { ...api, definition: { ...api.definition, 'x-gw-api-gateway': { ...gateway, info } } };
}

/** Adds a version to a base. */
export function withVersion(base: StoredApi, childId: string, options: VersionOptions): StoredApi {
  const { name, location, key, versions, rest, ...block } = readVersioning(base);
  const added = options.new_version_name;
  if (!added) throw problem.version_name_missing();
  const baseName = options.base_api_version_name || name;
  if (!baseName) throw problem.base_name_missing();
  const isTaken = Object.hasOwn(versions, added) && versions[added] !== childId;
  if (isTaken || added === baseName) throw problem.version_exists({ detail: { name: added } });
  const next = {
    ...rest,
    enabled: true,
    name: baseName,
    location: location || defaultVersionLocation.location,
    key: key || (location && location !== 'header' ? '' : defaultVersionLocation.key),
    default: options.set_default ? added : block.default || ownName,
  };
  return withVersioning(base, next, { ...versions, [added]: childId });
}

/** Removes an API from the versions of a base. Where it was the default, the base becomes the default. */
export function withoutVersion(base: StoredApi, childId: string): StoredApi {
  const { name, versions, rest, ...block } = readVersioning(base);
  const left = Object.entries(versions).filter(([, id]) => id !== childId);
  const keepsDefault = block.default === undefined || versions[block.default] !== childId;
  return withVersioning(base, keepsDefault ? rest : { ...rest, default: name || ownName }, Object.fromEntries(left));
}

/**
 * Swaps base and version: the version becomes the base under its name, and the former base one of its versions.
 * Requests that name no version keep being served by the same API; each API keeps its address.
 */
export function swapBase(base: StoredApi, next: StoredApi): { readonly base: StoredApi; readonly version: StoredApi } {
  const { name, versions, rest, ...block } = readVersioning(base);
  if (rest.enabled !== true || !name || Object.keys(versions).length === 0) throw problem.no_base();
  const own = Object.keys(versions).find(it => versions[it] === next.api_id);
  if (own === undefined) throw problem.not_its_version();
  const left = Object.entries(versions).filter(([, id]) => id !== next.api_id);
  const served = !block.default || block.default === ownName ? name : block.default;
  const leading = { ...rest, name: own, default: served === own ? ownName : served };
  return {
    base: withVersioning(next, leading, { [name]: base.api_id, ...Object.fromEntries(left) }),
    version: withVersioning(base, { enabled: false }, {}),
  };
}
