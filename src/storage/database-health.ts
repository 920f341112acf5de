import type { Clock } from '#base/clock.ts';
import type { Records } from './records.ts';

/** Result cache: health endpoints need no credential, so polling must not cost a query each time. */
const resultTtlMs = 1000;
/** A slower database counts as unavailable. */
const probeTimeoutMs = 2000;

/** Database health check: empty text, or a message safe for unauthenticated clients. The cause is logged elsewhere. */
export function createDatabaseHealthCheck(records: Records, clock: Clock): () => Promise<string> {
  let probedAtMs = Number.NEGATIVE_INFINITY;
  let result = Promise.resolve('');
  return () => {
    if (Math.abs(clock.now() - probedAtMs) >= resultTtlMs) {
      probedAtMs = clock.now();
      result = probe(records);
    }
    return result;
  };
}

async function probe(records: Records): Promise<string> {
  const unavailable = 'database unavailable';
  const timeout = Promise.withResolvers<string>();
  const timer = setTimeout(timeout.resolve, probeTimeoutMs, unavailable);
  const reply = records.revision().then(
    () => '',
    () => unavailable,
  );
  const result = await Promise.race([reply, timeout.promise]);
  clearTimeout(timer);
  return result;
}
