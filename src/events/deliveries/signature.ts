import { createHmac } from 'node:crypto';

/**
 * What receivers check: the time of the attempt, and a keyed hash of that time and the body as it was sent. While a secret
 * is being replaced there is one hash for each of the two.
 */
export function signPayload(secrets: readonly string[], atSeconds: number, body: string): string {
  const hashes = secrets.map(secret => createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex'));
  return [`t=${atSeconds}`, ...hashes.map(hash => `v1=${hash}`)].join(',');
}
