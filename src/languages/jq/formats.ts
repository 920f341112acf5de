import type { JqBudget } from './budget.ts';
import { raise } from './error.ts';
import { stringifyJson } from './json-text.ts';
import { describeValue, formatJsonNumber, jqTypeOf } from './values.ts';

type Format = (value: unknown, budget: JqBudget) => string;

export const toJqString: Format = (value, budget) => (typeof value === 'string' ? value : stringifyJson(value, budget));

const html: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&#39;', '"': '&quot;' };
const tabs: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

/** A format that escapes characters, charged before and after. */
const createEscape =
  (write: (text: string) => string): Format =>
  (value, budget) => {
    const text = toJqString(value, budget);
    budget.reserveText(text.length);
    const written = write(text);
    budget.reserveText(written.length);
    return written;
  };

/** A format of one table row. */
const createRowFormat =
  (name: string, between: string, quote: (text: string) => string): Format =>
  (value, budget) => {
    if (!Array.isArray(value)) return raise(`${describeValue(value)} cannot be ${name}-formatted, only array`);
    budget.chargeCopy(value.length);
    const cells = value.map(cell => {
      const kind = jqTypeOf(cell);
      if (kind === 'null') return '';
      if (kind === 'number') return formatJsonNumber(cell);
      if (kind === 'boolean') return String(cell);
      if (kind === 'string') return createEscape(quote)(cell, budget);
      return raise(`${describeValue(cell)} is not valid in a ${name} row`);
    });
    budget.reserveText(cells.reduce((sum, { length }) => sum + length + 1, 0));
    return cells.join(between);
  };

const quoteShellWord = (value: unknown, budget: JqBudget): string => {
  const kind = jqTypeOf(value);
  if (kind === 'array' || kind === 'object') return raise(`${describeValue(value)} can not be escaped for shell`);
  if (typeof value !== 'string') return formatJsonNumber(value ?? null);
  budget.reserveText(value.length * 4);
  return `'${value.replaceAll("'", "'\\''")}'`;
};

const encodeUri = (text: string) =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    it => `%${it.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function decodeBase64(text: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replaceAll('=', '').length % 4 === 1)
    return raise(`${describeValue(text)} is not valid base64 data`);
  return Buffer.from(text, 'base64').toString();
}

/** Formats by their `@name`. */
const formats: Readonly<Record<string, Format>> = {
  __proto__: null as never,
  text: toJqString,
  json: stringifyJson,
  csv: createRowFormat('csv', ',', text => `"${text.replaceAll('"', '""')}"`),
  tsv: createRowFormat('tsv', '\t', text => text.replaceAll(/[\t\n\r\\]/g, it => tabs[it]!)),
  html: createEscape(text => text.replaceAll(/[<>&'"]/g, it => html[it]!)),
  uri: createEscape(encodeUri),
  sh: (value, budget) => (Array.isArray(value) ? value : [value]).map(it => quoteShellWord(it, budget)).join(' '),
  base64: createEscape(text => Buffer.from(text).toString('base64')),
  base64d: createEscape(decodeBase64),
};

export const findFormat = (name: string): Format =>
  formats[name] ?? raise(`${name.slice(0, 50)} is not a valid format`);
