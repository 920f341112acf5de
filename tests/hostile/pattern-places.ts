import { createPublicId } from '#base/ids.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { type Definition, openApi } from '../support/traffic.ts';
import type { Upstream } from '../support/upstream.ts';
import { hostileText } from './patterns.ts';

/** Every member that takes a regular expression. A new one gets a row here. */
export interface PatternPlace {
  readonly name: string;
  /** Writes an API, or a key to one, with the pattern in that place; returns the request that evaluates it. */
  write(ground: Ground, pattern: string): Promise<Written>;
}

export interface Ground {
  readonly app: TestApp;
  readonly upstream: Upstream;
}

export interface Written {
  readonly answer: Answer;
  /** Below the gateway's address. */
  readonly path: string;
  readonly method?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Sent = Omit<Written, 'answer'>;
const bodyText = `user=${'a'.repeat(60_000)}!`;

/** A place in a classic definition. */
const classic = (
  name: string,
  define: (pattern: string, id: string) => Record<string, unknown>,
  sent: (definition: Definition) => Partial<Sent> = () => ({}),
): PatternPlace => ({
  name,
  async write({ app, upstream }, pattern) {
    const definition = openApi(upstream, define(pattern, createPublicId()));
    const answer = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
    return { answer, path: `${definition.proxy.listen_path}/${hostileText}`, ...sent(definition) };
  },
});

const lists = (extended_paths: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
});
const createRewrite = (entry: object) =>
  lists({ url_rewrites: [{ path: '/{any}', method: 'GET', rewrite_to: '/to/$1', ...entry }] });

/** A place in the gateway's part of a document. */
const oas = (
  name: string,
  part: (pattern: string, id: string) => { server: object; operation?: object },
): PatternPlace => ({
  name,
  async write({ app, upstream }, pattern) {
    const id = createPublicId();
    const { server, operation = {} } = part(pattern, id);
    const body = {
      openapi: '3.1.0',
      info: { title: 'Patterns', version: '1' },
      paths: { '/{any}': { get: { operationId: 'any', responses: {} } } },
      'x-gw-api-gateway': {
        info: { id, name: 'Patterns', state: { active: true } },
        upstream: { url: upstream.url },
        server,
        middleware: { operations: { any: operation } },
      },
    };
    return { answer: await app.ask('POST', '/gw/apis/oas', { body }), path: `/${id}/${hostileText}` };
  },
});
const plainServer = (id: string) => ({ listenPath: { value: `/${id}`, strip: true } });

/** A place in the rights of a key. */
const ofKey = (name: string, right: (pattern: string) => object): PatternPlace => ({
  name,
  async write({ app, upstream }, pattern) {
    const definition = openApi(upstream, { use_keyless: false, use_standard_auth: true });
    await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
    const { api_id, proxy } = definition;
    const access_rights = { [api_id]: { api_id, api_name: 'Test', versions: ['Default'], ...right(pattern) } };
    const answer = await app.ask('POST', '/api/keys', { body: { access_rights } });
    return {
      answer,
      path: `${proxy.listen_path}/${hostileText}`,
      headers: { authorization: String(answer.body?.key_id) },
    };
  },
});

export const patternPlaces: readonly PatternPlace[] = [
  classic('a block list', pattern => lists({ black_list: [{ path: `/${pattern}`, method: 'GET' }] })),
  classic('an allow list in any case', pattern =>
    lists({ white_list: [{ path: `/${pattern}`, method: 'GET', ignore_case: true }] }),
  ),
  classic('the parameter of an endpoint', pattern =>
    lists({ ignored: [{ path: `/{any:${pattern}}`, method: 'GET' }] }),
  ),
  oas('an endpoint of a document', (pattern, id) => ({
    server: plainServer(id),
    operation: { allow: { enabled: true }, 'x-gw-classic': { path: `/${pattern}` } },
  })),
  oas('a rewrite of a document', (pattern, id) => ({
    server: plainServer(id),
    operation: { urlRewrite: { enabled: true, pattern, rewriteTo: '/to' } },
  })),
  classic(
    'a listen path',
    (pattern, id) => ({ proxy: { listen_path: `/${id}/{any:${pattern}}` } }),
    ({ proxy }) => ({
      path: `/${proxy.listen_path.split('/')[1]}/${hostileText}`,
    }),
  ),
  oas('the listen path of a document', (pattern, id) => ({
    server: { listenPath: { value: `/${id}/{any:${pattern}}`, strip: true } },
  })),
  classic(
    'a domain',
    (pattern, id) => ({ domain: `{any:${pattern}}.${id}.test`, proxy: { listen_path: '/' } }),
    ({ domain }) => ({ path: '/x', host: `${'a'.repeat(200)}.${String(domain).split('.').at(-2)}.test` }),
  ),
  classic('versions in URLs', pattern => ({
    definition: {
      location: 'url',
      url_versioning_pattern: pattern,
      strip_versioning_data: true,
      fallback_to_default: true,
    },
    version_data: { not_versioned: false, default_version: 'v1', versions: { v1: { name: 'v1' } } },
  })),
  classic(
    'credentials in bodies',
    pattern => ({
      use_keyless: false,
      use_basic_auth: true,
      basic_auth: { extract_from_body: true, body_user_regexp: pattern, body_password_regexp: pattern },
    }),
    () => ({ method: 'POST', body: bodyText }),
  ),
  classic('a rewrite', match_pattern => createRewrite({ match_pattern })),
  classic('a condition of a rewrite', match_rx =>
    createRewrite({
      match_pattern: '/.*',
      triggers: [{ on: 'any', rewrite_to: '/to', options: { path_part_matches: { any: { match_rx } } } }],
    }),
  ),
  classic(
    'a condition on the body',
    match_rx =>
      lists({
        url_rewrites: [
          {
            path: '/{any}',
            method: 'POST',
            match_pattern: '/.*',
            rewrite_to: '/to',
            triggers: [{ on: 'any', rewrite_to: '/there', options: { payload_matches: { match_rx } } }],
          },
        ],
      }),
    () => ({ method: 'POST', body: bodyText }),
  ),
  classic(
    'what tells cached answers apart',
    cache_key_regex => ({
      cache_options: { enable_cache: true, cache_timeout: 60 },
      ...lists({ advance_cache_config: [{ path: '/{any}', method: 'POST', cache_key_regex }] }),
    }),
    () => ({ method: 'POST', body: bodyText }),
  ),
  ofKey('what a key may call', pattern => ({ allowed_urls: [{ url: `/${pattern}`, methods: ['GET'] }] })),
  ofKey('a limit of a key', pattern => ({
    endpoints: [{ path: `/${pattern}`, methods: [{ name: 'GET', limit: { rate: 100, per: 60 } }] }],
  })),
];
