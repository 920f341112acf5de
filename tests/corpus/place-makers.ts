import { document, operation, simplePath } from './pieces.ts';
import { maker } from './samples.ts';

const key = (place: string) => ({ type: 'apiKey', in: place, name: 'x-key' });
const flow = (more: object = {}) => ({ scopes: { read: 'Reads' }, ...more });
const urls = { authorizationUrl: 'https://x.test/a', tokenUrl: 'https://x.test/t', refreshUrl: 'https://x.test/r' };

/** Every security scheme of OpenAPI, by the gateway's authentication method. */
const known: Record<string, object> = {
  'a key in a header': key('header'),
  'a key in the query': key('query'),
  'a key in a cookie': key('cookie'),
  'user and password': { type: 'http', scheme: 'basic' },
  'user and password in capitals': { type: 'http', scheme: 'Basic' },
  'signed tokens': { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  'OAuth by code': { type: 'oauth2', flows: { authorizationCode: flow(urls) } },
  'OAuth in every flow': {
    type: 'oauth2',
    flows: { implicit: flow(urls), password: flow(urls), clientCredentials: flow(urls), authorizationCode: flow(urls) },
  },
};
const unknown: Record<string, object> = {
  'tokens nobody described': { type: 'http', scheme: 'bearer' },
  'digests of passwords': { type: 'http', scheme: 'digest' },
  'OpenID Connect': { type: 'openIdConnect', openIdConnectUrl: 'https://x.test/.well-known/openid-configuration' },
  'client certificates': { type: 'mutualTLS' },
};
const createSecuredDocument = (scheme: object, security: object[] = [{ way: [] }]) =>
  document(
    { '/ping': { get: operation('ping', { security: [{ way: ['read'] }] }) } },
    { components: { securitySchemes: { way: scheme } }, security },
  );

/** `UPSTREAM` is where the test's upstream is. */
const servers: Record<string, { servers: unknown[]; path?: string }> = {
  'one address': { servers: [{ url: 'UPSTREAM' }] },
  'an address with a slash behind': { servers: [{ url: 'UPSTREAM/base/' }], path: '/base/ping' },
  'variables with defaults': {
    servers: [
      {
        url: 'http://{host}:{port}/{base}',
        variables: {
          host: { default: 'HOST' },
          port: { default: 'PORT', enum: ['PORT', '443'] },
          base: { default: 'v2' },
        },
      },
    ],
    path: '/v2/ping',
  },
  'several, of which the first counts': {
    servers: [{ url: 'UPSTREAM', description: '' }, { url: 'https://other.test' }, { url: '/relative' }],
  },
};
const unreachable: Record<string, { servers: unknown; why: RegExp }> = {
  'no servers': { servers: undefined, why: /upstreamURL: is required/ },
  'an empty list of servers': { servers: [], why: /upstreamURL: is required/ },
  'a relative server': { servers: [{ url: '/v1' }], why: /servers\[0\]\.url: is not an absolute URL/ },
  'a server without an address': { servers: [{ description: 'x' }], why: /servers\[0\]\.url/ },
  'a variable without a default': {
    servers: [{ url: 'https://{x}.test' }],
    why: /servers\[0\]\.url: the variable \{x\} has no default/,
  },
  'a protocol-relative server': { servers: [{ url: '//x.test/v1' }], why: /servers\[0\]\.url: is not an absolute URL/ },
};

export const placeMakers = [
  maker({
    name: 'a security scheme',
    variants: Object.keys(known),
    make: (which, chance) => ({
      document: createSecuredDocument(known[which]!),
      query: { authentication: chance.pick(['true', '1', 't']) },
      // Methods with a token in the Authorization header report it as missing; the others refuse access.
      fate: { calls: [{ path: '/ping', status: /^(signed|OAuth)/.test(which) ? 400 : 401 }] },
    }),
  }),
  maker({
    name: 'a security scheme that is declared and not required',
    variants: Object.keys({ ...known, ...unknown }),
    make: which => ({
      document: createSecuredDocument({ ...known, ...unknown }[which]!),
      ...(which in known ? { query: { authentication: 'false' } } : {}),
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
  maker({
    name: 'a security scheme that maps to a key',
    variants: Object.keys(unknown),
    make: which => ({
      document: createSecuredDocument(unknown[which]!),
      query: { authentication: 'true' },
      fate: { calls: [{ path: '/ping', status: 401 }] },
    }),
  }),
  maker({
    name: 'callers who may also come without',
    variants: [[{}], [{}, { way: [] }]],
    make: security => ({
      document: createSecuredDocument(key('header'), security),
      query: { authentication: 'true' },
      fate: { calls: [{ path: '/ping', status: 401 }] },
    }),
  }),
  maker({
    name: 'authentication, and nothing to take it from:',
    variants: [undefined, []],
    make: security => ({
      document: { ...createSecuredDocument(key('header')), security },
      query: { authentication: 'true' },
      fate: { refused: /^authentication: the document has no security to take it from/ },
    }),
  }),
  maker({
    name: 'an undeclared scheme',
    variants: [{ nobody: [] }, { way: [], nobody: [] }],
    make: requirement => ({
      document: createSecuredDocument(key('header'), [requirement]),
      fate: { refused: /security\[0\]: nobody is not one of components\.securitySchemes/ },
    }),
  }),
  maker({
    name: 'servers',
    variants: Object.keys(servers),
    make: which => ({
      document: document(simplePath, { servers: servers[which]!.servers }),
      ownServers: true,
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
  maker({
    name: 'servers that lead nowhere',
    variants: Object.keys(unreachable),
    make: which => ({
      document: document(simplePath, { servers: unreachable[which]!.servers }),
      ownServers: true,
      fate: { refused: unreachable[which]!.why },
    }),
  }),
  maker({
    name: 'servers that lead nowhere, and a parameter that leads somewhere',
    variants: Object.keys(unreachable).filter(which => which !== 'a server without an address'),
    make: which => ({
      document: document(simplePath, { servers: unreachable[which]!.servers }),
      fate: { calls: [{ path: '/ping' }] },
    }),
  }),
] as const;
