import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time of the thread, in microseconds; a busy machine stretches `dur`, not this. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const taskNames = new Set(['RunTask', 'ThreadControllerImpl::RunTask']);

/** CPU time of each task of the renderers' main threads while `work` runs, in milliseconds, longest first. */
export async function traceMainThread(page: Page, work: () => Promise<void>): Promise<readonly number[]> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  let trace: Buffer;
  try {
    await work();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const idOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mainThreads = new Set(
    traceEvents.filter(it => it.name === 'thread_name' && it.args?.name === 'CrRendererMain').map(idOf),
  );
  const tasks = traceEvents.filter(it => it.ph === 'X' && taskNames.has(it.name) && mainThreads.has(idOf(it)));
  assert.ok(tasks.length > 0, 'the trace has tasks of the main thread');
  assert.ok(
    tasks.some(({ tdur }) => tdur !== undefined),
    'the trace has CPU times',
  );
  return tasks.map(({ tdur = 0 }) => tdur / 1000).sort((a, b) => b - a);
}
