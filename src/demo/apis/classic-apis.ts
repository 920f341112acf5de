import { bookshopSchema } from './bookshop-schema.ts';

/** APIs in the classic format. */

const createProxy = (listenPath: string, target: string) => ({
  listen_path: listenPath,
  target_url: target,
  strip_listen_path: true,
});

const createVersions = (version: object = {}) => ({
  not_versioned: true,
  versions: { Default: { name: 'Default', ...version } },
});

const keyAuthentication = {
  use_standard_auth: true,
  auth_configs: { authToken: { auth_header_name: 'Authorization' } },
};

/** Catalogue: open to all, cached for a minute. */
export const createCatalogueApi = (origin: string) => ({
  name: 'Catalogue',
  active: true,
  use_keyless: true,
  cache_options: { enable_cache: true, cache_timeout: 60, cache_all_safe_requests: true, cache_response_codes: [200] },
  proxy: createProxy('/catalogue/', `${origin}/catalogue`),
  version_data: createVersions(),
});

/** Bookshop: GraphQL with a bounded depth. */
export const createBookshopApi = (origin: string) => ({
  name: 'Bookshop',
  active: true,
  ...keyAuthentication,
  proxy: createProxy('/bookshop/', `${origin}/graphql`),
  version_data: createVersions(),
  graphql: {
    enabled: true,
    execution_mode: 'proxyOnly',
    version: '2',
    schema: bookshopSchema,
    limits: { max_query_depth: 6 },
  },
});

/** Payments: an upstream that fails now and then, behind a timeout, a circuit breaker and uptime tests. */
export const createPaymentsApi = (origin: string, hookId: string) => ({
  name: 'Payments',
  active: true,
  ...keyAuthentication,
  event_handlers: {
    events: { BreakerTriggered: [{ handler_name: 'eh_web_hook_handler', handler_meta: { id: hookId } }] },
  },
  uptime_tests: { check_list: [{ url: `${origin}/health`, method: 'GET', timeout: 2000 }] },
  proxy: createProxy('/payments/', `${origin}/payments`),
  version_data: createVersions({
    use_extended_paths: true,
    extended_paths: {
      hard_timeouts: [{ path: '/charges', method: 'POST', duration: '1s' }],
      circuit_breakers: [
        { path: '/refunds', method: 'POST', threshold_percent: 0.5, samples: 3, return_to_service_after: 10 },
      ],
    },
  }),
});
