import type { ValidationRun } from './run.ts';

/** Canonical JSON: equal values give equal texts, whatever the order of members. Charged to the run. */
export function canonicalize(value: unknown, run: Pick<ValidationRun, 'spend'>): string {
  run.spend(1);
  if (typeof value === 'string') {
    run.spend(value.length >> 6);
    return JSON.stringify(value);
  }
  if (typeof value === 'number') return String(value === 0 ? 0 : value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(item => canonicalize(item, run)).join(',')}]`;
  const bag = value as Record<string, unknown>;
  const members = Object.keys(bag).sort();
  return `{${members.map(name => `${JSON.stringify(name)}:${canonicalize(bag[name], run)}`).join(',')}}`;
}
