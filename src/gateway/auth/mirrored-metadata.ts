import type { OutboundRequest } from '#base/http-client/client.ts';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { AuthServices } from './services.ts';

/** Protected resource metadata of an upstream, as the gateway serves them for it. */
export interface MirroredMetadata {
  /** Undefined where the upstream has no usable document. */
  read(): Promise<JsonObject | undefined>;
}

/** TLS options of the definition for an origin of the upstream; throws where a certificate is missing. */
export type ReadUpstreamTls = (origin: string) => NonNullable<OutboundRequest['tls']>;

const ttlMs = 300_000;
/** Interval between attempts after a failure. */
const minRetryIntervalMs = 5000;
const fetchTimeoutMs = 5000;
const maxDocumentBytes = 64 * 1024;
const wellKnownPath = '/.well-known/oauth-protected-resource';

/** Reads the document once for concurrent requests; the last one stays in use while the upstream fails. */
export function createMirroredMetadata(
  upstreamUrl: string,
  { outbound, clock, log }: Pick<AuthServices, 'outbound' | 'clock' | 'log'>,
  readTls: ReadUpstreamTls,
): MirroredMetadata {
  const urls = listMetadataUrls(upstreamUrl);
  let document: JsonObject | undefined;
  let loadedAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  async function load(): Promise<void> {
    triedAtMs = clock.now();
    try {
      document = await fetchDocument(outbound, urls, readTls(new URL(upstreamUrl).origin));
      loadedAtMs = clock.now();
    } catch (error) {
      const isCached = document !== undefined;
      log.warn({ reason: (error as Error).message, cached: isCached }, 'protected resource metadata unavailable');
    }
  }

  return {
    async read() {
      const now = clock.now();
      if (now - loadedAtMs >= ttlMs && (loading || now - triedAtMs >= minRetryIntervalMs)) {
        loading ??= load().finally(() => {
          loading = undefined;
        });
        await loading;
      }
      return document;
    },
  };
}

/** RFC 9728, section 3.1: the well-known path is inserted before the path of the resource; servers also use the root. */
function listMetadataUrls(upstreamUrl: string): string[] {
  const { origin, pathname } = new URL(upstreamUrl);
  const path = pathname.replace(/\/$/, '');
  return [...new Set([path, ''])].map(suffix => `${origin}${wellKnownPath}${suffix}`);
}

/** The first URL whose status is not 404 decides. */
async function fetchDocument(
  outbound: AuthServices['outbound'],
  urls: readonly string[],
  tls: ReturnType<ReadUpstreamTls>,
): Promise<JsonObject> {
  for (const url of urls) {
    const { status, body } = await outbound.fetch({
      url,
      headers: { accept: 'application/json' },
      audience: 'operator',
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxDocumentBytes,
      tls,
    });
    if (status === 404) continue;
    if (status !== 200) throw new Error(`${url} responded with status ${status}`);
    return parseDocument(url, body.toString());
  }
  throw new Error(`${urls.join(' and ')} responded with status 404`);
}

function parseDocument(url: string, text: string): JsonObject {
  const document: unknown = JSON.parse(text);
  if (!isObject(document) || typeof document.resource !== 'string') throw new Error(`${url} has no resource`);
  // Signed metadata name the upstream as the resource, and take precedence over plain ones (RFC 9728, section 2.2).
  const { signed_metadata: _signed, ...plain } = document as JsonObject;
  return plain;
}
