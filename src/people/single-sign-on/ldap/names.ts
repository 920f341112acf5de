import { userNamePlaceholder } from './filter.ts';

/** Escapes an attribute value of a distinguished name (RFC 4514, section 2.4). */
export const escapeNameValue = (value: string): string =>
  value
    .replaceAll(/[\\"+,;<>=#]/g, it => `\\${it}`)
    .replaceAll('\u0000', '\\00')
    .replace(/^ | $/g, '\\ ');

/**
 * Key of a user name for limits. Directories compare names after string preparation (RFC 4518): width, case, accents,
 * invisible characters and the number of blanks do not count. Two names with one key share a limit, at worst.
 */
export const toNameKey = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** Names without an `=` are no distinguished names: `*USERNAME*@example.org`, `EXAMPLE\*USERNAME*`. */
const plainUserName = /^[\w.-]{1,100}$/;

/** Name to bind with; undefined for a user name that cannot be part of it. */
export function fillBindName(template: string, userName: string): string | undefined {
  if (template.includes('=')) return template.replaceAll(userNamePlaceholder, () => escapeNameValue(userName));
  return plainUserName.test(userName) ? template.replaceAll(userNamePlaceholder, () => userName) : undefined;
}
