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

/** Test reporter: the twenty slowest files and the time of all, at the end of a run. */
export default async function* slowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const durations = new Map<string, number>();
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || !data.entryFile) continue;
    durations.set(data.entryFile, (durations.get(data.entryFile) ?? 0) + (data.details?.duration_ms ?? 0));
  }
  const slowest = [...durations].sort(([, one], [, other]) => other - one);
  const total = slowest.reduce((sum, [, ms]) => sum + ms, 0);
  yield `\nSlowest of ${slowest.length} test files:\n`;
  for (const [file, ms] of slowest.slice(0, maxFiles)) yield `${formatSeconds(ms)}  ${relative(process.cwd(), file)}\n`;
  yield `${formatSeconds(total)}  all together\n`;
}
