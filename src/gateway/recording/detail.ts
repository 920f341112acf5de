import { removeQueryParameter } from '../auth/credential-sources.ts';
import type { Body } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { credentialMask } from '../pipeline/mask-query.ts';
import type { CredentialLocations } from './api-analytics.ts';

/** Bound of one recorded request or response, head and body together. */
const maxDetailBytes = 8192;

type Redact = (text: string) => string;

/**
 * Base64 dump of the request as forwarded, with credentials redacted. The body is included only where a step buffered
 * it: a streamed body is not buffered for the record.
 */
export function encodeRequest(call: Exchange, secrets: CredentialLocations, redact: Redact): string {
  const [path, ...rest] = call.target.split('?') as [string, ...string[]];
  let query = rest.join('?');
  for (const name of secrets.parameters) query = removeQueryParameter(query, name);
  const line = `${call.method} ${query === '' ? path : `${path}?${query}`} HTTP/1.1`;
  return encodeMessage(line, call.headers.flat, secrets, secrets.requestBody ? undefined : call.body, redact);
}

/** Base64 dump of the response; empty without one. */
export function encodeResponse(call: Exchange, secrets: CredentialLocations, redact: Redact): string {
  const response = call.response;
  return response
    ? encodeMessage(`HTTP/1.1 ${response.status}`, response.headers.flat, secrets, response.body, redact)
    : '';
}

function encodeMessage(
  line: string,
  flat: readonly string[],
  { headers }: CredentialLocations,
  body: Body | undefined,
  redact: Redact,
): string {
  let head = `${line}\r\n`;
  for (let at = 0; at < flat.length && head.length < maxDetailBytes; at += 2) {
    const name = flat[at]!;
    head += `${name}: ${headers.has(name.toLowerCase()) ? credentialMask : flat[at + 1]}\r\n`;
  }
  const bytes = Buffer.from(`${head}\r\n`, 'latin1').subarray(0, maxDetailBytes);
  const room = maxDetailBytes - bytes.length;
  const whole = body?.bytes && room > 0 ? Buffer.concat([bytes, body.bytes.subarray(0, room)]) : bytes;
  return Buffer.from(redact(whole.toString('latin1')), 'latin1').toString('base64');
}
