import type { Clock } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import type { Vault } from '#base/vault.ts';

/** Tolerated difference between the time stamp of a token and the clock of the gateway, both ways. */
export const explainTokenTtlMs = 10_000;

/** The request that a token permits to be explained. */
export interface ExplainedRequest {
  readonly method: string;
  /** Without port. */
  readonly host: string;
  readonly path: string;
}

const tokenPattern = /^(\d{1,15})((?:\.[0-9a-f]{64}){1,4})$/;

const sign = (vault: Vault, atMs: number, { method, host, path }: ExplainedRequest): string =>
  vault.digest(JSON.stringify([atMs, method, host, path]), 'explain token');

/**
 * HMAC token of an explained request, sent in place of the gateway secret: a base URL may lead to other services. It
 * holds a time stamp and one signature for each path that the request may have at the gateway.
 */
export const createExplainToken = (
  vault: Vault,
  clock: Clock,
  { paths, ...request }: Omit<ExplainedRequest, 'path'> & { readonly paths: readonly string[] },
): string => {
  const atMs = clock.now();
  return [atMs, ...paths.map(path => sign(vault, atMs, { ...request, path }))].join('.');
};

/** Verifies a token without state: it holds for one method, host and path, and for seconds. */
export function isExplainToken(vault: Vault, clock: Clock, token: string, request: ExplainedRequest): boolean {
  const [, time, signatures] = tokenPattern.exec(token) ?? [];
  if (time === undefined || signatures === undefined) return false;
  const atMs = Number(time);
  if (Math.abs(clock.now() - atMs) > explainTokenTtlMs) return false;
  const expected = sign(vault, atMs, request);
  return signatures
    .slice(1)
    .split('.')
    .some(signature => constantTimeEqual(signature, expected));
}
