import { z } from 'zod';

/** One result of a test. */
export const testResult = z.object({
  at: z.string(),
  up: z.boolean().describe('Whether the host counts as up after it'),
  url: z.string().describe('What was tested, without its query'),
  response_code: z.int().describe('0 where no answer came'),
  latency: z.int().describe('Milliseconds'),
  error: z.string().describe('Why there was no answer; empty where there was one'),
});
export type ResultView = z.output<typeof testResult>;

/** An upstream host of one API. */
export const hostUptime = z.object({
  api_id: z.string(),
  api_name: z.string(),
  host: z.string().describe('Name and port'),
  up: z.boolean().describe('At the end of the time that was asked for'),
  since: z.string().describe('When that began, as far as it is still known'),
  uptime: z.number().describe('The part of the time in which it was up, from 0 to 1'),
  latency: z.number().describe('Milliseconds that tests which passed took on average; 0 where none did'),
  tests: z.int(),
  failed: z.int(),
  last: testResult.describe('The newest result'),
  results: z.array(testResult).describe('The results with which it went or came back, newest first, ten at the most'),
});
export type HostUptime = z.output<typeof hostUptime>;
export const uptimePage = z.object({ data: z.array(hostUptime), pages: z.int() });
