import type { Clock } from '#base/clock.ts';
import type { Records } from './records.ts';

/** Health is asked for without a credential: asking often must not cost a query each time. */
const resultTtlMs = 1000;
/** A database that takes longer counts as away. */
const probeTimeoutMs = 2000;

/** Whether the database answers: empty text, or what to tell an outsider. Why is for the log. */
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
  const unavailable = 'the database does not answer';
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
