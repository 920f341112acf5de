/** `type/subtype` of a `Content-Type`, without parameters, lower-case; empty where there is none. */
export const parseMediaType = (text: string | undefined): string => (text ?? '').split(';', 1)[0]!.trim().toLowerCase();

export const isJsonType = (type: string): boolean => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(type);

/** Whether a `Content-Type` leaves its text to be read as UTF-8. In some other encodings the same bytes say something else. */
export const isUtf8ContentType = (contentType: string): boolean =>
  [...contentType.matchAll(/;\s*charset\s*=\s*"?([^\s;"]*)/gi)].every(([, name]) =>
    /^(?:utf-?8|(?:us-)?ascii)$/i.test(name!),
  );
