import { callServer, toBodyOf } from '../../kit/calls.ts';
import { toApiOutline } from '../apis/api-outline.ts';
import { definitionRoutes } from '../apis/use-definition.ts';

/** Definitions that one replacement writes; each is read, changed and written by itself. */
export const maxReplacedApis = 200;

/** The value with every text that is one of the old ids replaced; all else stays as it is. */
export function replaceIds(value: unknown, old: ReadonlySet<string>, next: string): unknown {
  if (typeof value === 'string') return old.has(value) ? next : value;
  if (Array.isArray(value)) return value.map(it => replaceIds(it, old, next));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, replaceIds(it, old, next)]));
}

export interface ReplacedUses {
  readonly replaced: number;
  readonly failures: readonly string[];
}

/** Writes the new id into every API that names the old one, with the entity tag of its read. */
export async function replaceInApis(oldId: string, fingerprint: string, next: string): Promise<ReplacedUses> {
  const given = { params: { certId: oldId }, query: { p: -1 } };
  const { apis } = (await callServer('GET /api/certs/{certId}/apis', given)).value;
  const old = new Set([oldId, fingerprint]);
  const failures: string[] = [];
  const named = apis.slice(0, maxReplacedApis);
  for (const { api_id: apiId, name } of named)
    await replaceInApi(apiId, old, next).catch((error: Error) => failures.push(`${name || apiId}: ${error.message}`));
  for (const { api_id: apiId, name } of apis.slice(maxReplacedApis)) failures.push(name || apiId);
  return { replaced: apis.length - failures.length, failures };
}

async function replaceInApi(apiId: string, old: ReadonlySet<string>, next: string): Promise<void> {
  const { value, etag } = await callServer('GET /api/apis/{apiId}', { params: { apiId } });
  const options = { ifMatch: etag, wait: 'applied' } as const;
  const { format } = toApiOutline(value);
  const route = definitionRoutes[format];
  const replaced = replaceIds(format === 'classic' ? value.api_definition : value.oas, old, next);
  const body = toBodyOf<typeof route>(format === 'classic' ? { api_definition: replaced } : replaced);
  await callServer(route, { params: { apiId }, body }, options);
}
