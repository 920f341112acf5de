/** Escapes a text for a quoted string (RFC 9110, section 5.6.4); characters beyond ASCII become `?`. */
export const escapeQuotedString = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&');
