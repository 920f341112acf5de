import { negation } from '../field-codecs.ts';
import { flagRule, secondsRule, textRule } from '../rules.ts';

/** Service discovery query; shared by targets and uptime tests. */
export const discoveryFields = {
  enabled: {
    rule: flagRule,
    classic: 'use_discovery_service',
    about: 'Asks the registry instead of using fixed targets.',
  },
  queryEndpoint: {
    rule: textRule,
    interpolation: 'secret',
    classic: 'query_endpoint',
    about: 'The address asked with GET.',
  },
  dataPath: { rule: textRule, classic: 'data_path', about: 'Dotted path to the host inside each item.' },
  useNestedQuery: {
    rule: flagRule,
    classic: 'use_nested_query',
    about: 'The value at the parent path is itself JSON in a text.',
  },
  parentDataPath: {
    rule: textRule,
    classic: 'parent_data_path',
    about: 'Dotted path to the list, or to the nested JSON.',
  },
  portDataPath: { rule: textRule, classic: 'port_data_path', about: 'Dotted path to the port inside each item.' },
  useTargetList: { rule: flagRule, classic: 'use_target_list', about: 'Takes every item, not only the first.' },
  targetPath: { rule: textRule, classic: 'target_path', about: 'A path put behind each host.' },
  endpointReturnsList: { rule: flagRule, classic: 'endpoint_returns_list', about: 'The reply itself is a list.' },
  cacheEnabled: {
    rule: flagRule,
    classic: negation('cache_disabled'),
    oas: 'cache.enabled',
    requiresAnyOf: ['enabled'],
    about: 'Remembers the answer for the time below; otherwise for the gateway default.',
  },
  cacheSeconds: {
    rule: secondsRule,
    classic: 'cache_timeout',
    oas: ['cache.timeout', 'cacheTimeout'],
    about: 'How long an answer is remembered.',
  },
} as const;
