import type { OutboundResponse } from '#base/http-client/response.ts';
import { STATUS_CODES } from '#base/node-http.ts';
import type { QuotaUse } from '../../quota-notices/quota-notices.ts';
import { formatCurlSample, keyText } from '../reference/samples.ts';
import { formatCalls, formatCount, formatMoment, formatRate } from '../words.ts';
import type { TryCredential } from './try-credentials.ts';
import type { TryRequest } from './try-request.ts';

/** Response of a call as the page shows it. */
export interface TryResult {
  readonly status: number;
  /** Status in words. */
  readonly statusText: string;
  readonly tookMs: number;
  /** Why the gateway refused the call; empty for other responses. */
  readonly explanation: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Rate limit of the credential; null without one. */
  readonly limit: { readonly max: number; readonly left: number } | null;
  /** The request as a command, with a placeholder for the credential. */
  readonly curl: string;
}

const keyMask = '[your credential]';

/** Hides the credential where the API sends it back: it is never in a page. */
const hideKey = (text: string, key: string) => (key === '' ? text : text.replaceAll(key, keyMask));

const decodeText = (bytes: Buffer): string | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    // Not UTF-8: shown as a size.
    return undefined;
  }
};

const firstOf = (value: string | string[] | undefined) => [value].flat()[0] ?? '';

interface TryFacts {
  readonly credential: TryCredential | undefined;
  /** Header of the credential. */
  readonly authHeader: string;
  /** Of the credential, where the call was refused. */
  readonly quota: QuotaUse | undefined;
}

export function toTryResult(
  { status, headers, body }: OutboundResponse,
  request: TryRequest,
  { credential, authHeader, quota }: TryFacts,
  tookMs: number,
): TryResult {
  // A token is hidden without its scheme too.
  const key = (credential?.key ?? '').replace(/^Bearer /, '');
  const type = firstOf(headers['content-type']) || 'unknown type';
  const text = decodeText(body) ?? `${formatCount(body.length)} bytes of ${type}`;
  const [max, left] = ['x-ratelimit-limit', 'x-ratelimit-remaining'].map(name => Number(firstOf(headers[name]) || -1));
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    tookMs,
    explanation: explainStatus(status, firstOf(headers['retry-after']), credential, quota),
    headers: Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map(it => [name, hideKey(it, key)] as const),
    ),
    body: hideKey(text, key),
    limit: max! > 0 && left! >= 0 ? { max: max!, left: Math.min(left!, max!) } : null,
    curl: toCommand(request, credential ? [[authHeader, credential.client ? `Bearer ${keyText}` : keyText]] : []),
  };
}

const toCommand = (
  { method, url, headers, body }: TryRequest,
  credentialHeaders: readonly (readonly [string, string])[],
) =>
  formatCurlSample({
    method,
    url: url.href,
    headers: [...credentialHeaders, ...Object.entries(headers)],
    body,
  });

function explainStatus(
  status: number,
  retryAfter: string,
  credential: TryCredential | undefined,
  quota: QuotaUse | undefined,
): string {
  if (status >= 300 && status < 400) return 'The API redirects. Redirects are not followed here.';
  if ((status === 401 || status === 403) && !credential)
    return 'The API needs a credential: choose one of yours, or request access.';
  if ((status === 401 || status === 403) && !credential!.isForProduct) return 'This credential is for another product.';
  if (status === 403 && quota && quota.used >= quota.max) {
    const renewal = quota.renewsAtMs > 0 ? `It renews ${formatMoment(quota.renewsAtMs)}.` : 'It does not renew.';
    return `The quota of ${formatCalls(quota.max)} is used up. ${renewal}`;
  }
  if (status === 403) return 'The gateway refused the credential: it may be revoked, expired, or its quota used up.';
  if (status === 429) {
    const rate = credential?.plan ? `: ${formatRate(credential.plan).toLowerCase()}` : '';
    return `The rate limit is reached${rate}.${/^\d{1,9}$/.test(retryAfter) ? ` Wait ${retryAfter} s.` : ''}`;
  }
  if (status === 404) return 'The API has no such resource, or it is not active at the moment.';
  if (status >= 502 && status <= 504) return 'The API does not respond at the moment.';
  return '';
}
