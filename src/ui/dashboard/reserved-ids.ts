/**
 * Ids that equal the path of another page: the page of an API with the id `new` is `/apis/-/new`. Inside of the router
 * the mark and the id are one segment (`-%2Fnew`), so that each page has one route.
 */
const reservedIds: ReadonlySet<string> = new Set(['new', 'import', '-']);
const mark = '-/';

const toSegment = (id: string) => (reservedIds.has(id) || id.startsWith(mark) ? mark + id : id);
const fromSegment = (segment: string) => (segment.startsWith(mark) ? segment.slice(mark.length) : segment);

/** `params` of a route whose parameter is an id: `params: idParam('apiId')`. */
export const idParam = <Name extends string>(name: Name) => ({
  parse: (params: Readonly<Record<Name, string>>) => ({ [name]: fromSegment(params[name]) }) as Record<Name, string>,
  stringify: (params: Readonly<Record<Name, string>>) => ({ [name]: toSegment(params[name]) }) as Record<Name, string>,
});

/** Encoded id as a part of a path of the router. */
export const encodeId = (id: string): string => encodeURIComponent(toSegment(id));

/** Paths in the address bar and in the router: `rewrite` of the router. */
export const rewriteReservedIds = {
  input: ({ url }: { url: URL }) => {
    url.pathname = url.pathname.replace(/^(\/[\w-]+)\/-\//, '$1/-%2F');
    return url;
  },
  output: ({ url }: { url: URL }) => {
    url.pathname = url.pathname.replace(/^(\/[\w-]+)\/-%2F/i, '$1/-/');
    return url;
  },
};
