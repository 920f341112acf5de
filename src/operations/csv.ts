/** Media type of CSV with a header line (RFC 4180, section 3). */
export const csvType = 'text/csv; charset=utf-8; header=present';

export type CsvCell = string | number | boolean;

/** Characters at which spreadsheets begin a formula, their full-width forms included. */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
/** The same behind a separator: where the list separator is another one than the comma, it begins a cell. */
const innerFormulaStart = /([;\t|][ "']*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;
const needsQuotes = /[",;\t|\r\n]|^\s|\s$/;

/**
 * CSV (RFC 4180) with a header line. A text that a spreadsheet would run as a formula gets an apostrophe in front, also
 * where it would split the text first: callers of an API choose paths, aliases and agents. Numbers stay as they are.
 */
export function formatCsv(columns: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return formatCsvRows([columns, ...rows]);
}

/** Lines of CSV, without a header line of their own. */
export const formatCsvRows = (rows: readonly (readonly CsvCell[])[]): string =>
  rows.map(cells => `${cells.map(formatCell).join(',')}\r\n`).join('');

function formatCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell);
  const guarded = cell.replace(innerFormulaStart, "$1'");
  const text = formulaStart.test(guarded) ? `'${guarded}` : guarded;
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
