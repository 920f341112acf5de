/** Escapes a query value: all but letters, digits and `-_.~`; spaces become `+`. */
export const escapeQuery = (plain: string): string =>
  encodeURIComponent(plain.toWellFormed())
    .replaceAll('%20', '+')
    .replaceAll(/[!'()*]/g, it => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);
