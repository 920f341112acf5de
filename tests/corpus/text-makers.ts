import { type Notation, notations } from './notations.ts';
import { document, operation, simplePath } from './pieces.ts';
import { maker } from './samples.ts';

const odd = (name: string) => /UTF-16|Latin 1/.test(name);
const head = 'openapi: 3.0.3\ninfo:\n  title: Text\n  version: "1"\n';
const get = 'get:\n      operationId: ping\n      responses:\n        200:\n          description: OK\n';
const pinged = { calls: [{ path: '/ping' }] };

/** YAML as only people write it. */
const yamls: Record<string, string> = {
  'anchors and aliases': `${head}x-ok: &ok\n  200:\n    description: OK\npaths:\n  /ping:\n    get:\n      operationId: ping\n      responses: *ok\n    put:\n      operationId: put\n      responses: *ok\n`,
  'merged members': `${head}x-base: &base\n  responses:\n    200: {description: OK}\npaths:\n  /ping:\n    get:\n      <<: *base\n      operationId: ping\n`,
  'comments and blank lines': `# A document\n\n${head}\n# paths follow\npaths: # here\n  /ping:\n    ${get}\n`,
  'quoted names': `'openapi': "3.0.3"\n"info": {'title': 'Text', "version": '1'}\n"paths":\n  '/ping':\n    ${get}`,
  'folded and literal texts': `${head.replace('title: Text', 'title: Text\n  description: >-\n    folded\n    line\n\n    next\n  x-more: |+\n    kept\n\n')}paths:\n  /ping:\n    ${get}`,
  'words that were once booleans': `${head}x-words: [yes, no, on, off, y, ~, 0o17, 0x1F, 1e3, 2020-01-01, 12:30]\npaths:\n  /ping:\n    ${get}`,
  'tabs between name and value': `${head}paths:\n  /ping:\n    get:\n      operationId:\tping\n      responses: {200: {description:\tOK}}\n`,
};
const broken: Record<string, string> = {
  'indented with tabs': `${head}paths:\n\t/ping:\n\t\tget: {}\n`,
  'an open bracket': `${head}paths: {`,
  'an alias of nothing': `${head}paths: *nothing\n`,
  'two documents': `${head}paths: {}\n---\n${head}paths: {}\n`,
};
const few = { openapi: '3.0.3', info: { title: 'T', version: '1' }, paths: {} };
const twoGets = { '/a': { get: operation('same') }, '/b': { get: operation('same') } };

/** Invalid documents, and the paths of their errors. */
const wrong: readonly (readonly [what: string, document: object | string, why: RegExp])[] = [
  [
    'an older language',
    { swagger: '2.0', info: few.info, paths: {} },
    /^swagger: this is Swagger 2\.0: convert it to OpenAPI 3 first$/,
  ],
  ['a version to come', { ...few, openapi: '4.0.0' }, /^openapi: must be an OpenAPI version 3\.0 or 3\.1/],
  ['a version that is a number', { ...few, openapi: 3.1 }, /^openapi: /],
  ['no title', { ...few, info: { version: '1' } }, /^info\.title: is required/],
  ['an empty title', { ...few, info: { title: ' ', version: '1' } }, /^info\.title: is required/],
  ['a title that is none', { ...few, info: { title: 7, version: '1' } }, /^info\.title: must be a string/],
  ['no info', { openapi: '3.0.3', paths: {} }, /^info: is required/],
  ['no paths in 3.0', { openapi: '3.0.3', info: few.info }, /^paths: is required/],
  ['paths in a list', { ...few, paths: [] }, /^paths: must be an object/],
  ['a path without a slash', { ...few, paths: { ping: {} } }, /paths\.ping: must begin with \//],
  ['a path that is a text', { ...few, paths: { '/a': 'x' } }, /paths\.\/a: must be an object/],
  ['an operation that is a text', { ...few, paths: { '/a': { get: 'x' } } }, /paths\.\/a\.get: must be an object/],
  [
    'an id that is a number',
    { ...few, paths: { '/a': { get: { operationId: 7 } } } },
    /paths\.\/a\.get\.operationId: must be a string/,
  ],
  ['an id twice', { ...few, paths: twoGets }, /paths\.\/b\.get\.operationId: is not unique/],
  [
    'parameters that are no list',
    { ...few, paths: { '/a': { parameters: {} } } },
    /paths\.\/a\.parameters: must be an array/,
  ],
  ['servers that are no list', { ...few, servers: {} }, /servers: must be an array/],
  ['security that is no list', { ...few, security: {} }, /security: must be an array/],
  ['the gateway’s part', { ...few, 'x-gw-api-gateway': {} }, /should not contain x-gw-api-gateway/],
  ['a list', '[]', /object/],
  ['a text', '"x"', /object/],
  ['nothing', '', /empty/],
  ['half a document', '{"openapi":"3.0.3","info":', /unexpected end of JSON/],
  ['a word too many', '{"openapi":"3.0.3"} x', /it is not JSON at character 20/],
  [
    'a member that would change all objects',
    '{"openapi":"3.0.3","__proto__":{}}',
    /the member name __proto__ is not allowed/,
  ],
  ['a NUL', JSON.stringify({ ...few, info: { title: 'a\u0000', version: '1' } }), /NUL/],
  ['a nest', `${'{"a":'.repeat(150)}1${'}'.repeat(150)}`, /nested deeper than/],
];

export const textMakers = [
  maker({
    name: 'a document',
    variants: (Object.keys(notations) as Notation[]).filter(name => !odd(name)),
    make: notation => ({
      document: document({ ...simplePath, '/größe/🙂': { get: operation('ü') } }),
      notation,
      fate: pinged,
    }),
  }),
  maker({
    name: 'a document in letters that are not UTF-8:',
    variants: (Object.keys(notations) as Notation[]).filter(odd),
    make: notation => ({
      document: document({ '/größe': { get: operation('ü') } }),
      notation,
      fate: { refused: /^Request body malformed: it is not UTF-8 text/ },
    }),
  }),
  maker({
    name: 'YAML with',
    variants: Object.keys(yamls),
    make: which => ({ document: yamls[which]!, notation: 'yaml', query: { allowList: 'true' }, fate: pinged }),
  }),
  maker({
    name: 'duplicate members in',
    variants: ['json', 'yaml'],
    make: notation => ({
      document:
        notation === 'yaml'
          ? `${head}paths:\n  /gone: {}\npaths:\n  /ping:\n    ${get}`
          : JSON.stringify(document(simplePath)).replace('"paths"', '"paths":{"/gone":{}},"paths"'),
      ...(notation === 'yaml' && { notation }),
      fate: { refused: /^Request body malformed: duplicate member paths$/ },
    }),
  }),
  maker({
    name: 'broken YAML:',
    variants: Object.keys(broken),
    make: which => ({
      document: broken[which]!,
      notation: 'yaml',
      fate: { refused: /^Request body malformed: it is not YAML at character \d+|has too many aliases/ },
    }),
  }),
  maker({
    name: 'what is no document:',
    variants: wrong.map(([what]) => what),
    make: (_what, _chance, at) => {
      const [, given, refused] = wrong[at]!;
      return { document: given as string, fate: { refused } };
    },
  }),
] as const;
