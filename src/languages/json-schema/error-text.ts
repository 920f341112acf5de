import type { SchemaViolation } from './run.ts';

const maxNameCharacters = 100;
const maxChoices = 10;

/** Truncates a client's name for a message. */
export const truncateName = (name: string) =>
  name.length > maxNameCharacters ? `${name.slice(0, maxNameCharacters)}…` : name;

export const formatChoices = (values: readonly unknown[]): string => {
  const texts = values.slice(0, maxChoices).map(value => truncateName(JSON.stringify(value)));
  return values.length > maxChoices ? `${texts.join(', ')}, …` : texts.join(', ');
};

/** `FIELD: DESCRIPTION`; `root` names the whole value. */
function formatViolation({ path, message }: SchemaViolation, root: string): string {
  const place = path.map(part => truncateName(String(part))).join('.');
  return `${place === '' ? root : place}: ${message}`;
}

const maxTextCharacters = 8000;

/** All violations, truncated. */
export function formatViolations(faults: readonly SchemaViolation[], root: string): string {
  const text = faults.map(fault => formatViolation(fault, root)).join('; ');
  return text.length > maxTextCharacters ? `${text.slice(0, maxTextCharacters)}…` : text;
}
