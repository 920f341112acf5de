import { type GuestOutcome, maxUncountedTextLength } from './guest.ts';

/** Values of a result: a traffic thread parses as many in milliseconds, whatever its length in bytes. */
const maxResultValues = 50_000;

/** Refuses a long result of many values, which would keep the traffic thread busy when it is parsed there. */
export function checkResultValues(outcome: GuestOutcome): GuestOutcome {
  if (outcome.kind !== 'result' || outcome.text.length <= maxUncountedTextLength) return outcome;
  if (countValues(outcome.text) <= maxResultValues) return outcome;
  const message = `the result has more than ${maxResultValues} values`;
  return { kind: 'failed', fault: { type: 'output', message, at: '' }, logs: outcome.logs };
}

/** Stops behind the bound. A text that is no JSON has none: its reader refuses it. */
function countValues(text: string): number {
  const open: unknown[] = [];
  try {
    open.push(JSON.parse(text));
  } catch {
    return 0;
  }
  let count = 0;
  while (open.length > 0 && count <= maxResultValues) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const members = Object.values(value);
    count += members.length;
    if (count <= maxResultValues) open.push(...members.filter(it => typeof it === 'object'));
  }
  return count;
}
