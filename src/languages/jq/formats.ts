import type { Budget } from './budget.ts';
import { raise } from './error.ts';
import { jsonText } from './json-text.ts';
import { kindOf, numberText, shown } from './values.ts';

type Format = (value: unknown, budget: Budget) => string;

export const textOf: Format = (value, budget) => (typeof value === 'string' ? value : jsonText(value, budget));

const html: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', "'": '&#39;', '"': '&quot;' };
const tabs: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

/** Text where each character may become several. */
const escaped =
  (write: (text: string) => string): Format =>
  (value, budget) => {
    const text = textOf(value, budget);
    budget.make(text.length);
    const written = write(text);
    budget.make(written.length);
    return written;
  };

/** One line of a table. */
const line =
  (name: string, between: string, quoted: (text: string) => string): Format =>
  (value, budget) => {
    if (!Array.isArray(value)) return raise(`${shown(value)} cannot be ${name}-formatted, only array`);
    budget.copy(value.length);
    const cells = value.map(cell => {
      const kind = kindOf(cell);
      if (kind === 'null') return '';
      if (kind === 'number') return numberText(cell);
      if (kind === 'boolean') return String(cell);
      if (kind === 'string') return escaped(quoted)(cell, budget);
      return raise(`${shown(cell)} is not valid in a ${name} row`);
    });
    budget.make(cells.reduce((sum, { length }) => sum + length + 1, 0));
    return cells.join(between);
  };

const shellWord = (value: unknown, budget: Budget): string => {
  const kind = kindOf(value);
  if (kind === 'array' || kind === 'object') return raise(`${shown(value)} can not be escaped for shell`);
  if (typeof value !== 'string') return numberText(value ?? null);
  budget.make(value.length * 4);
  return `'${value.replaceAll("'", "'\\''")}'`;
};

const encodedUri = (text: string) =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    it => `%${it.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function decoded(text: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replaceAll('=', '').length % 4 === 1)
    return raise(`${shown(text)} is not valid base64 data`);
  return Buffer.from(text, 'base64').toString();
}

/** What `@name` writes. */
const formats: Readonly<Record<string, Format>> = {
  __proto__: null as never,
  text: textOf,
  json: jsonText,
  csv: line('csv', ',', text => `"${text.replaceAll('"', '""')}"`),
  tsv: line('tsv', '\t', text => text.replaceAll(/[\t\n\r\\]/g, it => tabs[it]!)),
  html: escaped(text => text.replaceAll(/[<>&'"]/g, it => html[it]!)),
  uri: escaped(encodedUri),
  sh: (value, budget) => (Array.isArray(value) ? value : [value]).map(it => shellWord(it, budget)).join(' '),
  base64: escaped(text => Buffer.from(text).toString('base64')),
  base64d: escaped(decoded),
};

export const formatOf = (name: string): Format => formats[name] ?? raise(`${name.slice(0, 50)} is not a valid format`);
