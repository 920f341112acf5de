import { loadYaml } from '#base/lazy-packages.ts';
import type { Document } from './documents.ts';
import type { Resource } from './resources.ts';

/** Output formats: tables and YAML for people, JSON for scripts. */
export const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
export const formatYaml = (value: unknown): string => loadYaml().stringify(value);

/** Replaces control characters: names chosen by others must not control the terminal. */
export const replaceControlCharacters = (value: unknown) => String(value ?? '').replaceAll(/[\p{Cc}\p{Cf}]/gu, '�');

/** Replaces control characters in a text of several lines, such as a list of faults. */
export const replaceLineControls = (text: string) => text.split('\n').map(replaceControlCharacters).join('\n');

export function formatTable(columns: Resource['columns'], items: readonly Document[]): string {
  const rows = [
    Object.keys(columns),
    ...items.map(item => Object.values(columns).map(readCell => replaceControlCharacters(readCell(item)))),
  ];
  const widths = Object.keys(columns).map((_name, index) => Math.max(...rows.map(row => row[index]!.length)));
  return rows
    .map(
      row =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
