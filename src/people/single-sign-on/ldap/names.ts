import { userNamePlaceholder } from './filter.ts';

/** Escapes an attribute value of a distinguished name (RFC 4514, section 2.4). */
export const escapeNameValue = (value: string): string =>
  value
    .replaceAll(/[\\"+,;<>=#]/g, it => `\\${it}`)
    .replaceAll('\u0000', '\\00')
    .replace(/^ | $/g, '\\ ');

/** Names without an `=` are no distinguished names: `*USERNAME*@example.org`, `EXAMPLE\*USERNAME*`. */
const plainUserName = /^[\w.-]{1,100}$/;

/** Name to bind with; undefined for a user name that cannot be part of it. */
export function fillBindName(template: string, userName: string): string | undefined {
  if (template.includes('=')) return template.replaceAll(userNamePlaceholder, () => escapeNameValue(userName));
  return plainUserName.test(userName) ? template.replaceAll(userNamePlaceholder, () => userName) : undefined;
}
