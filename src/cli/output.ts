import { stringify } from 'yaml';
import type { Document } from './documents.ts';
import type { Kind } from './resources.ts';

/** How answers look: tables and YAML for people, JSON for scripts. */
export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
export const yaml = (value: unknown): string => stringify(value);

/** A terminal obeys control characters: what others wrote is shown, not obeyed. */
const shown = (value: unknown) => String(value ?? '').replaceAll(/[\p{Cc}\p{Cf}]/gu, '�');

export function table(columns: Kind['columns'], items: readonly Document[]): string {
  const rows = [Object.keys(columns), ...items.map(item => Object.values(columns).map(of => shown(of(item))))];
  const widths = Object.keys(columns).map((_name, at) => Math.max(...rows.map(row => row[at]!.length)));
  return rows
    .map(
      row =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
