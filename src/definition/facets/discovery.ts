import { negation } from '../field-codecs.ts';
import { flagRule, secondsRule, textRule } from '../rules.ts';

/** Service discovery query; shared by targets and uptime tests. */
export const discoveryFields = {
  enabled: {
    rule: flagRule,
    classic: 'use_discovery_service',
    about: 'Enables service discovery in place of fixed targets.',
  },
  queryEndpoint: {
    rule: textRule,
    interpolation: 'secret',
    classic: 'query_endpoint',
    about: 'URL of the registry, requested with GET.',
  },
  dataPath: { rule: textRule, classic: 'data_path', about: 'Dotted path of the host in each item.' },
  useNestedQuery: {
    rule: flagRule,
    classic: 'use_nested_query',
    about: 'Parses the value at the parent path, a JSON text, once more.',
  },
  parentDataPath: {
    rule: textRule,
    classic: 'parent_data_path',
    about: 'Dotted path of the list, or of the nested JSON.',
  },
  portDataPath: { rule: textRule, classic: 'port_data_path', about: 'Dotted path of the port in each item.' },
  useTargetList: { rule: flagRule, classic: 'use_target_list', about: 'Uses every item, not only the first.' },
  targetPath: { rule: textRule, classic: 'target_path', about: 'Path appended to each host.' },
  endpointReturnsList: {
    rule: flagRule,
    classic: 'endpoint_returns_list',
    about: 'Expects a list as the whole response.',
  },
  cacheEnabled: {
    rule: flagRule,
    classic: negation('cache_disabled'),
    oas: 'cache.enabled',
    requiresAnyOf: ['enabled'],
    about: 'Enables caching for the time below; without it, for the default of the gateway.',
  },
  cacheSeconds: {
    rule: secondsRule,
    classic: 'cache_timeout',
    oas: ['cache.timeout', 'cacheTimeout'],
    about: 'Time in seconds for which the response of the registry is cached.',
  },
} as const;
