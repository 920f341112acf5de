/** Reference token of a JSON pointer (RFC 6901, section 3) for a member name. */
export const toPointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
export const fromPointerToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

export const toPointer = (path: readonly (string | number)[]): string =>
  path.map(name => `/${toPointerToken(String(name))}`).join('');

/** Member names of a pointer. */
export const parsePointer = (pointer: string): string[] => pointer.split('/').slice(1).map(fromPointerToken);
