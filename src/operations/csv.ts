/** Media type of CSV with a header line (RFC 4180, section 3). */
export const csvType = 'text/csv; charset=utf-8; header=present';

export type CsvCell = string | number | boolean;

/** Characters at which spreadsheets begin a formula, their full-width forms included. */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const needsQuotes = /[",\r\n]|^\s|\s$/;

/**
 * CSV (RFC 4180) with a header line. A text that a spreadsheet would run as a formula gets an apostrophe in front:
 * callers of an API choose paths, aliases and agents. Numbers stay as they are.
 */
export function formatCsv(columns: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [columns, ...rows].map(cells => `${cells.map(formatCell).join(',')}\r\n`).join('');
}

function formatCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell);
  const text = formulaStart.test(cell) ? `'${cell}` : cell;
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
