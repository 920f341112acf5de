import { createHmac } from 'node:crypto';

/**
 * Signature header: time of the attempt, and an HMAC-SHA256 of time and body. While a secret is being replaced there is
 * one HMAC for each of the two.
 */
export function signPayload(secrets: readonly string[], atSeconds: number, body: string): string {
  const hashes = secrets.map(secret => createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex'));
  return [`t=${atSeconds}`, ...hashes.map(hash => `v1=${hash}`)].join(',');
}
