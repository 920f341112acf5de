import type { HeaderList } from '../http/headers.ts';

/** Of identifying headers in a cache key; a request with more is not cached. */
const maxClientHeaderChars = 8192;

/**
 * Request headers that do not identify the client: negotiation (upstreams that use it send `Vary`), conditions, hints about the
 * client, tracing, framing, and what is in every cache key already. Every other header may be a credential.
 */
const nonIdentifyingHeaders: ReadonlySet<string> = new Set([
  ...[
    'accept',
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'accept-datetime',
    'user-agent',
    'referer',
    'origin',
  ],
  ...['if-none-match', 'if-modified-since', 'cache-control', 'pragma', 'expect', 'max-forwards', 'date'],
  ...['content-type', 'content-length', 'content-encoding', 'content-language', 'content-digest', 'content-md5'],
  ...['dnt', 'sec-gpc', 'save-data', 'priority', 'upgrade-insecure-requests', 'rtt', 'downlink', 'ect', 'dpr', 'width'],
  ...['viewport-width', 'device-memory', 'purpose', 'sec-purpose', 'sec-fetch-site', 'sec-fetch-mode'],
  ...['sec-fetch-dest', 'sec-fetch-user', 'sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform', 'sec-ch-ua-arch'],
  ...['sec-ch-ua-bitness', 'sec-ch-ua-model', 'sec-ch-ua-full-version', 'sec-ch-ua-full-version-list'],
  ...['sec-ch-ua-platform-version', 'sec-ch-prefers-color-scheme', 'sec-ch-prefers-reduced-motion', 'sec-ch-dpr'],
  ...['sec-ch-width', 'sec-ch-viewport-width', 'sec-ch-device-memory', 'sec-ch-ua-wow64', 'sec-ch-ua-form-factors'],
  ...['traceparent', 'tracestate', 'b3', 'x-b3-traceid', 'x-b3-spanid', 'x-b3-parentspanid', 'x-b3-sampled'],
  ...['x-b3-flags', 'uber-trace-id', 'x-request-id', 'x-correlation-id', 'x-amzn-trace-id', 'x-amz-cf-id', 'cf-ray'],
  ...['x-cloud-trace-context', 'x-datadog-trace-id', 'x-datadog-parent-id', 'x-datadog-sampling-priority'],
  ...['x-ot-span-context', 'x-request-start', 'x-queue-start', 'newrelic', 'sentry-trace'],
  ...[
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'http2-settings',
    'proxy-connection',
  ],
  // Believed from a trusted proxy only, and then the client address is in the cache key.
  ...['via', 'forwarded', 'x-forwarded-for', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'x-cluster-client-ip'],
  // In every cache key as they are.
  ...['host', 'authorization', 'cookie', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port'],
  ...['x-forwarded-prefix', 'x-host', 'x-original-host', 'x-http-host-override', 'x-original-url', 'x-rewrite-url'],
]);

/**
 * Serializes the headers that may identify a client without a key, for the cache key; empty where there are none. Undefined
 * where they are too long.
 */
export function serializeClientHeaders({ flat }: HeaderList): string | undefined {
  let text = '';
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    if (nonIdentifyingHeaders.has(name)) continue;
    const value = flat[at + 1]!;
    text += `${name.length}:${name}${value.length}:${value}`;
    if (text.length > maxClientHeaderChars) return undefined;
  }
  return text;
}

const methodOverrideHeaders = ['x-http-method-override', 'x-http-method', 'x-method-override'] as const;

/** True where an upstream may handle the request as another method, possibly an unsafe one. */
export function hasMethodOverride(headers: HeaderList): boolean {
  for (const name of methodOverrideHeaders) if (headers.has(name)) return true;
  return false;
}
