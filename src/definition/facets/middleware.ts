import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation, secondsNumber, wholeSecondsText } from '../field-codecs.ts';
import { choiceRule, flagRule, objectRule, secondsRule, statusCodesRule, textListRule, textRule } from '../rules.ts';
import { snakeCaseOverrides } from './error-overrides.ts';
import { pluginFields } from './plugins.ts';

export const cors = facet({
  name: 'cors',
  about: 'Answers browsers that ask whether a page of another origin may call this API.',
  classic: 'CORS',
  oas: 'middleware.global.cors',
  fields: {
    enabled: { rule: flagRule, classic: 'enable', about: 'Turns the block on.' },
    allowedOrigins: { rule: textListRule, classic: 'allowed_origins', about: 'Origins let in; empty for all.' },
    allowedMethods: {
      rule: textListRule,
      classic: 'allowed_methods',
      about: 'Methods let in; empty for GET, POST and HEAD.',
    },
    allowedHeaders: { rule: textListRule, classic: 'allowed_headers', about: 'Request headers let in; * for any.' },
    exposedHeaders: { rule: textListRule, classic: 'exposed_headers', about: 'Response headers a page may read.' },
    allowCredentials: {
      rule: flagRule,
      classic: 'allow_credentials',
      about: 'Lets a page send cookies and credentials.',
    },
    maxAge: { rule: secondsRule, classic: 'max_age', about: 'Seconds a preflight may be remembered.' },
    optionsPassthrough: {
      rule: flagRule,
      classic: 'options_passthrough',
      about: 'Lets the upstream answer preflights itself.',
    },
    debug: { rule: flagRule, about: 'Logs every decision.' },
  },
});

export const cache = facet({
  name: 'cache',
  about: 'Answers repeated calls from memory.',
  classic: 'cache_options',
  oas: 'middleware.global.cache',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_cache', about: 'Turns all caching of the API on.' },
    timeout: { rule: secondsRule, classic: 'cache_timeout', about: 'Seconds a response is cached.' },
    cacheAllSafeRequests: {
      rule: flagRule,
      classic: 'cache_all_safe_requests',
      about: 'Caches every GET, HEAD and OPTIONS, not only the endpoints that ask for it.',
    },
    cacheResponseCodes: {
      rule: statusCodesRule,
      classic: 'cache_response_codes',
      about: 'Statuses cached; empty for all.',
    },
    cacheByHeaders: { rule: textListRule, classic: 'cache_by_headers', about: 'Headers that make calls different.' },
    enableUpstreamCacheControl: {
      rule: flagRule,
      classic: 'enable_upstream_cache_control',
      about: 'Lets the upstream control caching and its time by response headers.',
    },
    controlTTLHeaderName: {
      rule: textRule,
      classic: 'cache_control_ttl_header',
      about: 'The header in which the upstream says how long.',
    },
  },
});

export const contextVariables = facet({
  name: 'contextVariables',
  about: 'Facts about the call that templates and headers may name.',
  classic: '',
  oas: 'middleware.global.contextVariables',
  fields: { enabled: { rule: flagRule, classic: 'enable_context_vars', about: 'Collects them.' } },
});

export const pluginConfig = facet({
  name: 'pluginConfig',
  about: 'What the plugins of the API share.',
  classic: '',
  oas: 'middleware.global.pluginConfig',
  fields: {
    driver: {
      rule: choiceRule('otto', 'javascript', 'python', 'lua', 'grpc', 'goplugin'),
      classic: 'custom_middleware.driver',
      about: 'What runs the plugins.',
    },
    bundleEnabled: {
      rule: flagRule,
      classic: negation('custom_middleware_bundle_disabled'),
      oas: 'bundle.enabled',
      requiresAnyOf: ['bundlePath'],
      about: 'Takes the plugins from a bundle.',
    },
    bundlePath: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'custom_middleware_bundle',
      oas: 'bundle.path',
      about: 'The bundle, or several with commas.',
    },
    dataEnabled: {
      rule: flagRule,
      classic: negation('config_data_disabled'),
      oas: 'data.enabled',
      requiresAnyOf: ['data'],
      about: 'Hands the data below to plugins.',
    },
    data: {
      rule: objectRule,
      interpolation: 'nothing',
      secret: 'named',
      classic: 'config_data',
      oas: 'data.value',
      about: 'Anything the plugins need to know.',
    },
  },
});

export const plugins = facet({
  name: 'plugins',
  about: 'The code of others that runs around every call.',
  classic: 'custom_middleware',
  oas: 'middleware.global',
  fields: {
    pre: {
      list: pluginFields,
      oas: ['prePlugins', 'prePlugin.plugins'],
      about: 'Before anything is known about the caller.',
    },
    postAuth: {
      list: pluginFields,
      classic: 'post_key_auth',
      oas: ['postAuthenticationPlugins', 'postAuthenticationPlugin.plugins'],
      about: 'Once the caller is known.',
    },
    post: {
      list: pluginFields,
      oas: ['postPlugins', 'postPlugin.plugins'],
      about: 'Last before the call goes upstream.',
    },
    response: {
      list: pluginFields,
      oas: ['responsePlugins', 'responsePlugin.plugins'],
      about: 'On the way back.',
    },
  },
});

export const trafficLogs = facet({
  name: 'trafficLogs',
  about: 'One analytics record for each call.',
  classic: '',
  oas: 'middleware.global.trafficLogs',
  fields: {
    enabled: { rule: flagRule, classic: negation('do_not_track'), about: 'Writes them.' },
    tagHeaders: {
      rule: textListRule,
      classic: 'tag_headers',
      about: 'Headers whose values become tags of the record.',
    },
    retentionSeconds: {
      rule: secondsRule,
      classic: secondsNumber('expire_analytics_after'),
      oas: wholeSecondsText('customRetentionPeriod'),
      about: 'How long records are stored; 0 for ever.',
    },
    plugins: {
      list: {
        enabled: { rule: flagRule, about: 'Runs it.' },
        functionName: { rule: textRule, about: 'The function.' },
        path: { rule: textRule, interpolation: 'nothing', about: 'The file.' },
      },
      classic: null,
      about: 'Code that may change a record before it is written; the first one counts.',
    },
    pluginEnabled: {
      rule: flagRule,
      classic: '/analytics_plugin.enable',
      oas: null,
      about: 'Runs code that may change a record before it is written.',
    },
    pluginFunction: { rule: textRule, classic: '/analytics_plugin.func_name', oas: null, about: 'The function.' },
    pluginPath: {
      rule: textRule,
      interpolation: 'nothing',
      classic: '/analytics_plugin.plugin_path',
      oas: null,
      about: 'The file.',
    },
  },
  lens: { fields: ['plugins', 'pluginEnabled', 'pluginFunction', 'pluginPath'], derive: derivePlugin },
});

/** The classic format has one plugin, the OpenAPI format a list of which the first counts. */
function derivePlugin(values: Values, from: DefinitionFormat): Values {
  if (from === 'oas') {
    const [first] = values.plugins as { enabled: boolean; functionName: string; path: string }[];
    if (!first) return values;
    return { ...values, pluginEnabled: first.enabled, pluginFunction: first.functionName, pluginPath: first.path };
  }
  const { pluginEnabled: enabled, pluginFunction: functionName, pluginPath: path } = values;
  return { ...values, plugins: functionName || path ? [{ enabled, functionName, path }] : [] };
}

export const skips = facet({
  name: 'skips',
  about: 'Limits of keys that this API does not count.',
  classic: '',
  oas: 'middleware.global',
  fields: {
    rateLimit: { rule: flagRule, classic: 'disable_rate_limit', oas: 'skipRateLimit', about: 'Counts no rate.' },
    quota: { rule: flagRule, classic: 'disable_quota', oas: 'skipQuota', about: 'Counts no quota.' },
    quotaReset: {
      rule: flagRule,
      classic: 'dont_set_quota_on_create',
      oas: 'skipQuotaReset',
      about: 'Leaves the quota of a key alone when the key is created or updated.',
    },
  },
});

export const errorOverrides = facet({
  name: 'errorOverrides',
  about: 'Other answers in place of errors of the gateway or the upstream.',
  classic: '',
  oas: 'errorOverrides',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('error_overrides_disabled'),
      requiresAnyOf: ['rules'],
      about: 'Applies them.',
    },
    rules: {
      rule: objectRule,
      interpolation: 'nothing',
      classic: snakeCaseOverrides('error_overrides'),
      oas: 'value',
      about: 'Status, or class of statuses such as 4xx, to the list of rules tried in order.',
    },
  },
});
