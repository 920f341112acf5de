import type { SiteFields } from './page.ts';

/** Fields `first` and `last` of a person. */

export const maxNameChars = 100;

/** Names as they are stored; faults are added to `errors`. */
export function readNameFields(form: SiteFields, errors: Map<string, string>): { first: string; last: string } {
  for (const field of ['first', 'last'] as const) {
    const name = form(field);
    if (name.trim() === '') errors.set(field, 'Is required');
    else if (name.length > maxNameChars) errors.set(field, `Is longer than ${maxNameChars} characters`);
    // Names are part of mails to administrators: line breaks could add paragraphs to them.
    else if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name.trim())) errors.set(field, 'Has line breaks or control characters');
  }
  return { first: form('first').trim(), last: form('last').trim() };
}

/** Names that may be empty, as those of a person who is invited. */
export function readOptionalNames(form: SiteFields, errors: Map<string, string>): { first: string; last: string } {
  const found = new Map<string, string>();
  const names = readNameFields(form, found);
  for (const field of ['first', 'last'] as const)
    if (names[field] !== '' && found.has(field)) errors.set(field, found.get(field)!);
  return names;
}
