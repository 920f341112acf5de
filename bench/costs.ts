import type { MeasuredProcess } from './processes.ts';

/** Processor time of the measured process, and time until the response, of one request. */
export interface Cost {
  readonly cpuMs: number;
  readonly tookMs: number;
}

export const costHeading = '| request | ms CPU | ms | max ms CPU |\n|---|---|---|---|';

/** Sends the request once, and then as often as asked for the costs. */
export async function measureCosts(
  measured: MeasuredProcess,
  repetitions: number,
  request: () => Promise<unknown>,
): Promise<Cost[]> {
  await request();
  const costs: Cost[] = [];
  for (let n = 0; n < repetitions; n++) {
    const cpu = measured.cpuMicros();
    const started = performance.now();
    await request();
    const tookMs = performance.now() - started;
    costs.push({ cpuMs: (measured.cpuMicros() - cpu) / 1000, tookMs });
  }
  return costs;
}

export const medianCpuMs = (costs: readonly Cost[]): number => median(costs.map(it => it.cpuMs));

export function printCosts(title: string, costs: readonly Cost[]): void {
  const values = [medianCpuMs(costs), median(costs.map(it => it.tookMs)), Math.max(...costs.map(it => it.cpuMs))];
  console.log(`| ${title} | ${values.map(value => value.toFixed(1)).join(' | ')} |`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
