/** `type/subtype` of a `Content-Type`, without parameters, lower-case; empty where there is none. */
export const mediaType = (text: string | undefined): string => (text ?? '').split(';', 1)[0]!.trim().toLowerCase();

export const isJsonType = (type: string): boolean => /^[\w.+-]+\/(?:[\w.-]+\+)?json$/.test(type);
