import type { UptimeResult } from './uptime-result.ts';

/** Checks returned per host, and stored per hour. */
export const maxChecks = 90;

/** Outcomes of checks; the stored text has one character for each. */
export const checkOutcomes = ['up', 'failed', 'down'] as const;
export type UptimeOutcome = (typeof checkOutcomes)[number];

const marks: Readonly<Record<string, UptimeOutcome>> = { u: 'up', f: 'failed', d: 'down' };

/** A round with a failed test of a host that is still up has failed. */
export const toCheckMark = ({ up, tests, passed }: Pick<UptimeResult, 'up' | 'tests' | 'passed'>): string =>
  up ? (passed < tests ? 'f' : 'u') : 'd';

/** The newest marks of a text, in which they are in the order of time. */
export const cutChecks = (text: string): string => text.slice(-maxChecks);

export const parseChecks = (text: string): UptimeOutcome[] => [...cutChecks(text)].flatMap(mark => marks[mark] ?? []);
