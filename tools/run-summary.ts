import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly nesting?: number;
    readonly entryFile?: string;
    readonly details?: { readonly duration_ms?: number };
  };
}

const maxFiles = 20;
const formatSeconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(7)} s`;

/**
 * Test reporter: the twenty slowest files and the time of all, at the end of a run. The files with a failed test are
 * written to the file that `GW_TEST_FAILED_LIST` names.
 */
export default async function* summarizeRun(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const durations = new Map<string, number>();
  const failed = new Set<string>();
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || !data.entryFile) continue;
    durations.set(data.entryFile, (durations.get(data.entryFile) ?? 0) + (data.details?.duration_ms ?? 0));
    if (type === 'test:fail') failed.add(relative(process.cwd(), data.entryFile));
  }
  if (process.env.GW_TEST_FAILED_LIST) writeFileSync(process.env.GW_TEST_FAILED_LIST, [...failed].join('\n'));
  const slowest = [...durations].sort(([, one], [, other]) => other - one);
  const total = slowest.reduce((sum, [, ms]) => sum + ms, 0);
  yield `\nSlowest of ${slowest.length} test files:\n`;
  for (const [file, ms] of slowest.slice(0, maxFiles)) yield `${formatSeconds(ms)}  ${relative(process.cwd(), file)}\n`;
  yield `${formatSeconds(total)}  all together\n`;
}
