import { nowMs } from '../../../kit/browser-clock.ts';
import { callServer, type ResultOf, toBodyOf } from '../../../kit/calls.ts';
import { type DocumentOperation, listDocumentOperations } from '../operations-of-document.ts';

type UsageCount = ResultOf<'GET /api/usage'>['data'][number];
export type ProposedEndpoint = Pick<DocumentOperation, 'method' | 'path'>;

const daySeconds = 86_400;
export const proposedDays = 7;
/** The most used paths: a conversion is bounded. */
const maxPaths = 500;

type CalledPath = Pick<UsageCount, 'success'> & { readonly id: Pick<UsageCount['id'], 'method' | 'path'> };

/**
 * HTTP archive (HAR 1.2) of the paths that were called without an error: the conversion makes parameters of ids.
 * Undefined without any.
 */
export function toArchive(items: readonly CalledPath[]): string | undefined {
  const called = items.filter(({ id, success }) => success > 0 && id.path.startsWith('/') && id.method !== '');
  if (called.length === 0) return undefined;
  const entries = called.slice(0, maxPaths).map(({ id: { method, path } }) => {
    const encoded = path.replaceAll(/[?#]/g, encodeURIComponent);
    return { request: { method, url: `http://recorded.invalid${encoded}` } };
  });
  return JSON.stringify({ log: { entries } });
}

/** Endpoints that clients called in the last days without an error, with parameters in place of ids. */
export async function proposeEndpoints(apiId: string): Promise<readonly ProposedEndpoint[]> {
  const end = Math.ceil(nowMs() / 1000);
  const query = { api_id: apiId, start: end - proposedDays * daySeconds, end, group_by: 'path,method', p: -1 };
  const { value } = await callServer('GET /api/usage', { query: query as never });
  const text = toArchive(value.data);
  if (text === undefined) return [];
  const body = toBodyOf<'POST /api/apis/convert'>({ format: 'har', text });
  const { document } = (await callServer('POST /api/apis/convert', { body })).value;
  return listDocumentOperations(document).map(({ method, path }) => ({ method, path }));
}
