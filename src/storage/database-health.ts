import type { Clock } from '#base/clock.ts';
import type { Records } from './records.ts';

/** Health is asked for without a credential: asking often must not cost a query each time. */
const rememberedMs = 1000;
/** A database that takes longer counts as away. */
const patienceMs = 2000;

/** Whether the database answers: empty text, or what to tell an outsider. Why is for the log. */
export function databaseWatch(records: Records, clock: Clock): () => Promise<string> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve('');
  return () => {
    if (Math.abs(clock.now() - askedAt) >= rememberedMs) {
      askedAt = clock.now();
      answer = faultOf(records);
    }
    return answer;
  };
}

async function faultOf(records: Records): Promise<string> {
  const away = 'the database does not answer';
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(late.resolve, patienceMs, away);
  const answered = records.revision().then(
    () => '',
    () => away,
  );
  const fault = await Promise.race([answered, late.promise]);
  clearTimeout(timer);
  return fault;
}
