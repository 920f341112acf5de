import { type Bag, document, json, ok, operation, parameter, simplePath } from './pieces.ts';
import { maker } from './samples.ts';

const listParameters = (template: string) => [...template.matchAll(/\{([^}]*)\}/g)].map(([, name]) => parameter(name!));

/** Templates as people write them, each with a path that fits and one that must not. */
const templates: readonly (readonly [template: string, fits: string, other: string])[] = [
  ['/users/{user-id}', '/users/7', '/users'],
  ['/users/{user.id}/posts', '/users/7/posts', '/users/7/8/posts'],
  ['/reports/{id}.{format}', '/reports/7.pdf', '/reports/pdf'],
  ['/compare/{from}...{to}', '/compare/a...b', '/compare/a'],
  ['/range/{low}-{high}', '/range/1-9', '/range/19'],
  ['/items/{0}', '/items/7', '/items/7/8'],
  ['/items/{ID_of_item}', '/items/a%20b', '/items'],
  ['/café/{größe}', '/caf%C3%A9/xl', '/cafe/xl'],
  ['/🚀/launch', '/%F0%9F%9A%80/launch', '/launch'],
  ['/日本/{都市}', '/%E6%97%A5%E6%9C%AC/1', '/%E6%97%A5%E6%9C%AC'],
  ['/users/$count', '/users/$count', '/users/count'],
  ['/Products({id})', '/Products(7)', '/Products7'],
  ['/Products({id})/Rating', '/Products(7)/Rating', '/Products/7/Rating'],
  ['/items:batchGet', '/items:batchGet', '/items:batch'],
  ['/v1/{name}:cancel', '/v1/x:cancel', '/v1/x'],
  ['/a+b', '/a+b', '/aab'],
  ['/what[is]', '/what%5Bis%5D', '/whati'],
  ['/a|b', '/a%7Cb', '/a'],
  ['/v1.0/x', '/v1.0/x', '/v1x0/x'],
  ['/it%27s', "/it's", '/its'],
  ['/with space', '/with%20space', '/withspace'],
  ['/files/{path*}', '/files/a', '/files'],
  ['/@{handle}', '/@me', '/me'],
  ['/~{user}/home', '/~me/home', '/me/home'],
  ['/tail/', '/tail/', '/tails'],
  ['/a/b/c/d/e/f/g/{h}', '/a/b/c/d/e/f/g/7', '/a/b/c/d/e/f/g'],
];

const big = (count: number, chance: { word(): string; number(below: number): number }): Bag => {
  const paths: Bag = {};
  for (let at = 0; at < count; at++) {
    const path = `/${chance.word()}/${at}/${chance.number(2) === 0 ? '{id}' : chance.word()}`;
    paths[path] = {
      ...(path.includes('{') ? { parameters: [parameter('id')] } : {}),
      get: {
        summary: `Reads ${at}`,
        tags: [chance.word()],
        responses: ok(json({ $ref: '#/components/schemas/Thing' })),
      },
      put: { requestBody: json({ $ref: '#/components/schemas/Thing' }), responses: ok() },
    };
  }
  return { ...paths, ...simplePath };
};
const thing = { components: { schemas: { Thing: { type: 'object', properties: { id: { type: 'string' } } } } } };

export const pathMakers = [
  maker({
    name: 'a template of a path',
    variants: templates,
    make: ([template, fits, other], chance) => ({
      document: document(
        { [template]: { parameters: listParameters(template), get: operation('one') } },
        { openapi: chance.pick(['3.0.3', '3.1.0']) },
      ),
      query: { allowList: 'true' },
      notation: chance.pick(['json', 'yaml', 'JSON in ASCII']),
      fate: { calls: [{ path: fits }, { path: other, status: 403 }] },
    }),
  }),
  maker({
    name: 'many paths',
    variants: [50, 300, 1000, 1500],
    make: (count, chance) => ({
      document: document(big(count, chance), { ...thing, openapi: chance.pick(['3.0.3', '3.1.0']) }),
      query: { allowList: 'true' },
      notation: count > 1000 ? 'json' : chance.pick(['json', 'yaml']),
      fate: { calls: [{ path: '/ping' }, { path: '/pong', status: 403 }] },
    }),
  }),
  maker({
    name: 'operations without ids',
    variants: [undefined, null, ''],
    make: operationId => ({
      document: document({
        '/ping': { get: { operationId, responses: ok() }, post: { responses: ok() } },
        '/ping/': { get: { responses: ok() } },
        '/': { get: { responses: ok() } },
      }),
      query: { allowList: 't' },
      fate: { calls: [{ path: '/ping' }, { path: '/ping', method: 'POST' }, { path: '/' }] },
    }),
  }),
  maker({
    name: 'an id that another operation would be given',
    variants: ['pingGET', 'pingPOST'],
    make: operationId => ({
      document: document({
        '/other': { get: { operationId, responses: ok() } },
        '/ping': { get: { responses: ok() }, post: { responses: ok() } },
      }),
      query: { allowList: '1' },
      fate: { calls: [{ path: '/ping' }, { path: '/ping', method: 'POST' }, { path: '/other' }] },
    }),
  }),
  maker({
    name: 'every method',
    variants: ['3.0.3', '3.1.0'],
    make: openapi => ({
      document: document(
        {
          '/ping': Object.fromEntries(
            ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'].map(it => [it, { responses: ok() }]),
          ),
        },
        { openapi },
      ),
      query: { allowList: 'true' },
      fate: { calls: ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH'].map(method => ({ method, path: '/ping' })) },
    }),
  }),
  maker({
    name: 'parameters of a path, and of all its operations',
    variants: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
    make: style => ({
      document: document(
        {
          '/ping/{id}': {
            parameters: [
              parameter('id', 'path', { style: 'simple' }),
              parameter('trace', 'header', { style: 'simple' }),
            ],
            get: operation('ping', {
              parameters: [
                parameter('q', 'query', {
                  style,
                  explode: false,
                  schema: { type: 'array', items: { type: 'string' } },
                }),
                parameter('session', 'cookie', { style: 'form' }),
                parameter('raw', 'query', { schema: undefined, content: { 'application/json': { schema: {} } } }),
                { $ref: '#/components/parameters/Page' },
              ],
            }),
          },
        },
        {
          components: { parameters: { Page: parameter('page', 'query', { allowEmptyValue: true, deprecated: true }) } },
        },
      ),
      fate: { calls: [{ path: '/ping/7?q=a' }] },
    }),
  }),
  maker({
    name: 'parameters written into segments',
    variants: ['matrix', 'label'],
    make: style => ({
      document: document({
        '/map/{point}': { get: operation('p', { parameters: [parameter('point', 'path', { style })] }) },
      }),
      fate: { calls: [{ path: style === 'matrix' ? '/map/;point=5' : '/map/.5' }] },
    }),
  }),
  maker({
    name: 'extensions among the paths',
    variants: ['text', { get: { any: 1 } }, null, [1]],
    make: extension => ({
      document: document({ 'x-note': extension, ...simplePath }),
      query: { allowList: 'true' },
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
  maker({
    name: 'paths that stand elsewhere in the document',
    variants: ['3.1.0', '3.1.1'],
    make: openapi => ({
      document: document(
        { '/ping': { $ref: '#/components/pathItems/Ping' } },
        { openapi, components: { pathItems: { Ping: { get: operation('ping') } } } },
      ),
      read: document(simplePath, { openapi, components: { pathItems: { Ping: { get: operation('ping') } } } }),
      query: { allowList: 'true' },
      fate: { calls: [{ path: '/ping' }, { path: '/pong', status: 403 }] },
    }),
  }),
  maker({
    name: 'no paths at all',
    variants: [
      { openapi: '3.0.3', paths: {} },
      { openapi: '3.1.0', paths: {} },
      { openapi: '3.1.0', paths: undefined, webhooks: { made: { post: operation('made') } } },
      { openapi: '3.1.0', paths: undefined, components: { schemas: {} } },
    ],
    make: more => ({ document: document({}, more), fate: { calls: [{ path: '/anything' }] } }),
  }),
] as const;
