import { formatIsoTime } from './clock.ts';

/** Health report, the same on every listener: `pass` when no part fails, `fail` when all do, `warn` otherwise. */
export interface HealthReport {
  readonly status: 'pass' | 'warn' | 'fail';
  readonly version: string;
  readonly description: string;
  readonly details: Readonly<Record<string, PartReport>>;
}

export interface PartReport {
  readonly status: 'pass' | 'fail';
  readonly componentType: 'datastore';
  readonly time: string;
  /** Public description of a failure. */
  readonly output?: string;
}

/** `parts` by name: empty for a part that works, else the public description of its failure. */
export function toHealthReport(
  parts: Readonly<Record<string, string>>,
  version: string,
  description: string,
  nowMs: number,
): HealthReport {
  const entries = Object.entries(parts);
  const time = formatIsoTime(nowMs);
  const details: Record<string, PartReport> = {};
  for (const [name, output] of entries)
    details[name] = { status: output ? 'fail' : 'pass', componentType: 'datastore', time, ...(output && { output }) };
  const failing = entries.filter(([, output]) => output).length;
  const status = failing === 0 ? 'pass' : failing === entries.length ? 'fail' : 'warn';
  return { status, version, description, details };
}
