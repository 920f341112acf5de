import { z } from 'zod';
import { checkOutcomes, maxChecks } from './checks.ts';

/** One result of a test. */
export const testResult = z.object({
  at: z.string(),
  up: z.boolean().describe('State of the host after the test'),
  url: z.string().describe('Tested URL, without its query'),
  response_code: z.int().describe('Status of the response; 0 without one'),
  latency: z.int().describe('Milliseconds'),
  error: z.string().describe('Reason of a missing response; empty if there was one'),
});
export type ResultView = z.output<typeof testResult>;

const fraction = z.number().nullable().describe('From 0 to 1; null without tests');

/** An upstream host of one API. */
const hostUptime = z.object({
  api_id: z.string(),
  api_name: z.string(),
  host: z.string().describe('Host name and port'),
  up: z.boolean().describe('State at the end of the requested time'),
  since: z.string().describe('Start of that state, if stored'),
  uptime: z.number().describe('Fraction of the time for which the host was up, from 0 to 1'),
  latency: z.number().describe('Average duration of successful tests in milliseconds; 0 without any'),
  tests: z.int(),
  failed: z.int(),
  availability: z
    .object({ day: fraction, week: fraction, month: fraction })
    .describe('Fraction for which the host was up in the last 24 hours, 7 and 30 days before the end of the time'),
  checks: z
    .array(z.enum(checkOutcomes))
    .describe(`Newest rounds of tests, oldest first, at most ${maxChecks}; failed: a test failed, the host stayed up`),
  last: testResult.describe('Newest result'),
  results: z.array(testResult).describe('Results that changed the state, newest first, at most ten'),
});
export type HostUptime = z.output<typeof hostUptime>;
export const uptimePage = z.object({ data: z.array(hostUptime), pages: z.int() });
