/** Parameters of GraphQL requests that are read from a URL. */
const readNames: readonly string[] = ['query', 'operationName', 'variables', 'extensions', 'documentId'];
export const isUrlParameterName = (name: string): boolean => readNames.includes(name);

/** Folded names of parameters that servers read: `id` too names a persisted document. */
const foldedNames: ReadonlySet<string> = new Set([...readNames.map(name => name.toLowerCase()), 'id']);

/**
 * Folds the spellings that servers take for one name: ASP.NET ignores case, PHP skips leading spaces and ends a name at
 * NUL or `[`, and the parser `qs` reads `[query]`. Lower case of İ and ı is no plain i.
 */
const foldName = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/^[\s\p{Cc}?[]+/u, '')
    .replace(/[\0[\]].*$/su, '')
    .trim()
    .replaceAll(/[İı]/gu, 'i')
    .toLowerCase();

/** The `&` keeps a leading `?` in the name. */
const decodeName = (part: string): string => {
  const [name = ''] = new URLSearchParams(`&${part}`).keys();
  return name;
};

/** The first GraphQL parameter of a query string, in any spelling. Some servers split at `;` too. */
export function findGraphqlParameter(query: string): string | undefined {
  return query
    .split(/[&;]/)
    .map(decodeName)
    .find(name => foldedNames.has(foldName(name)));
}

/** The first GraphQL parameter that the gateway does not read, but a server may. */
export function findUnreadParameter(query: string): string | undefined {
  for (const pair of query.split('&')) {
    const [first = '', ...others] = pair.split(';').map(decodeName);
    if (!isUrlParameterName(first)) others.unshift(first);
    const unread = others.find(name => foldedNames.has(foldName(name)));
    if (unread !== undefined) return unread;
  }
  return undefined;
}

/** Query string without GraphQL parameters. */
export const removeUrlParameters = (query: string): string =>
  query
    .split('&')
    .filter(part => ![...new URLSearchParams(part).keys()].some(isUrlParameterName))
    .join('&');
