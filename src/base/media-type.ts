/** `type/subtype` of a `Content-Type`, without parameters, lower-case; empty where there is none. */
export const parseMediaType = (text: string | undefined): string => (text ?? '').split(';', 1)[0]!.trim().toLowerCase();

export const isJsonType = (type: string): boolean => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(type);

/** YAML media types, the unregistered ones included (RFC 9512, 2.1). */
export const isYamlType = (type: string): boolean => /^(application|text)\/([\w.-]+\+)?(x-)?yaml$/.test(type);

/** True unless a `Content-Type` names a charset other than UTF-8 or ASCII, in which the same bytes mean other text. */
export const isUtf8ContentType = (contentType: string): boolean =>
  [...contentType.matchAll(/;\s*charset\s*=\s*"?([^\s;"]*)/gi)].every(([, name]) =>
    /^(?:utf-?8|(?:us-)?ascii)$/i.test(name!),
  );
