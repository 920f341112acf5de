import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation, secondsNumber, wholeSecondsText } from '../field-codecs.ts';
import { choiceRule, flagRule, objectRule, secondsRule, statusCodesRule, textListRule, textRule } from '../rules.ts';
import { snakeCaseOverrides } from './error-overrides.ts';
import { pluginFields } from './plugins.ts';

export const cors = facet({
  name: 'cors',
  about: 'Cross-origin resource sharing: preflight responses and CORS headers.',
  classic: 'CORS',
  oas: 'middleware.global.cors',
  fields: {
    enabled: { rule: flagRule, classic: 'enable', about: 'Enables CORS.' },
    allowedOrigins: { rule: textListRule, classic: 'allowed_origins', about: 'Allowed origins; empty for all.' },
    allowedMethods: {
      rule: textListRule,
      classic: 'allowed_methods',
      about: 'Allowed methods; empty for GET, POST and HEAD.',
    },
    allowedHeaders: { rule: textListRule, classic: 'allowed_headers', about: 'Allowed request headers; * for any.' },
    exposedHeaders: { rule: textListRule, classic: 'exposed_headers', about: 'Response headers exposed to pages.' },
    allowCredentials: {
      rule: flagRule,
      classic: 'allow_credentials',
      about: 'Allows cookies and credentials.',
    },
    maxAge: {
      rule: secondsRule,
      classic: 'max_age',
      about: 'Time in seconds for which browsers may cache a preflight response.',
    },
    optionsPassthrough: {
      rule: flagRule,
      classic: 'options_passthrough',
      about: 'Forwards preflight requests to the upstream.',
    },
    debug: { rule: flagRule, about: 'Logs every decision.' },
  },
});

export const cache = facet({
  name: 'cache',
  about: 'Response caching.',
  classic: 'cache_options',
  oas: 'middleware.global.cache',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_cache', about: 'Enables response caching of the API.' },
    mode: {
      rule: choiceRule('timed', 'http'),
      classic: 'mode',
      about:
        'Rules of caching: `timed` caches for the time of the definition, `http` by the headers of requests and responses (RFC 9111). By default the setting `cache.default_mode`.',
    },
    timeout: {
      rule: secondsRule,
      classic: 'cache_timeout',
      about:
        'Time in seconds for which a response is cached; with `mode` `http` the lifetime of responses that have none of their own.',
    },
    cacheAllSafeRequests: {
      rule: flagRule,
      classic: 'cache_all_safe_requests',
      about: 'Caches every GET, HEAD and OPTIONS request, not only those of endpoints with caching.',
    },
    cacheResponseCodes: {
      rule: statusCodesRule,
      classic: 'cache_response_codes',
      about: 'Status codes that are cached; empty for all.',
    },
    cacheByHeaders: {
      rule: textListRule,
      classic: 'cache_by_headers',
      about: 'Request headers that go into the cache key.',
    },
    enableUpstreamCacheControl: {
      rule: flagRule,
      classic: 'enable_upstream_cache_control',
      about: 'Gives the upstream control of caching and its time by response headers.',
    },
    controlTTLHeaderName: {
      rule: textRule,
      classic: 'cache_control_ttl_header',
      about: 'Name of the response header with the caching time in seconds.',
    },
  },
});

export const contextVariables = facet({
  name: 'contextVariables',
  about: 'Context variables of the request for templates and headers.',
  classic: '',
  oas: 'middleware.global.contextVariables',
  fields: { enabled: { rule: flagRule, classic: 'enable_context_vars', about: 'Enables context variables.' } },
});

export const pluginConfig = facet({
  name: 'pluginConfig',
  about: 'Configuration of all plugins of the API.',
  classic: '',
  oas: 'middleware.global.pluginConfig',
  fields: {
    driver: {
      rule: choiceRule('otto', 'javascript', 'typescript', 'python', 'lua', 'grpc', 'goplugin'),
      classic: 'custom_middleware.driver',
      about: 'Runtime of the plugins.',
    },
    bundleEnabled: {
      rule: flagRule,
      classic: negation('custom_middleware_bundle_disabled'),
      oas: 'bundle.enabled',
      requiresAnyOf: ['bundlePath'],
      about: 'Loads the plugins from a bundle.',
    },
    bundlePath: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'custom_middleware_bundle',
      oas: 'bundle.path',
      about: 'Bundle, or several with commas.',
    },
    dataEnabled: {
      rule: flagRule,
      classic: negation('config_data_disabled'),
      oas: 'data.enabled',
      requiresAnyOf: ['data'],
      about: 'Passes the data to plugins.',
    },
    data: {
      rule: objectRule,
      interpolation: 'nothing',
      secret: 'named',
      classic: 'config_data',
      oas: 'data.value',
      about: 'Data for the plugins.',
    },
  },
});

export const plugins = facet({
  name: 'plugins',
  about: 'Plugins that run for every request.',
  classic: 'custom_middleware',
  oas: 'middleware.global',
  fields: {
    pre: {
      list: pluginFields,
      oas: ['prePlugins', 'prePlugin.plugins'],
      about: 'Plugins before authentication.',
    },
    postAuth: {
      list: pluginFields,
      classic: 'post_key_auth',
      oas: ['postAuthenticationPlugins', 'postAuthenticationPlugin.plugins'],
      about: 'Plugins after authentication.',
    },
    post: {
      list: pluginFields,
      oas: ['postPlugins', 'postPlugin.plugins'],
      about: 'Plugins before the upstream request.',
    },
    response: {
      list: pluginFields,
      oas: ['responsePlugins', 'responsePlugin.plugins'],
      about: 'Plugins of the response.',
    },
  },
});

export const trafficLogs = facet({
  name: 'trafficLogs',
  about: 'Analytics records of requests.',
  classic: '',
  oas: 'middleware.global.trafficLogs',
  fields: {
    enabled: { rule: flagRule, classic: negation('do_not_track'), about: 'Enables analytics records.' },
    tagHeaders: {
      rule: textListRule,
      classic: 'tag_headers',
      about: 'Names of headers whose values become tags of the record.',
    },
    retentionSeconds: {
      rule: secondsRule,
      classic: secondsNumber('expire_analytics_after'),
      oas: wholeSecondsText('customRetentionPeriod'),
      about: 'Time in seconds for which records are stored; 0 for ever.',
    },
    plugins: {
      list: {
        enabled: { rule: flagRule, about: 'Enables the plugin.' },
        functionName: { rule: textRule, about: 'Name of the function.' },
        path: { rule: textRule, interpolation: 'nothing', about: 'Path of the file.' },
        code: { rule: textRule, interpolation: 'nothing', about: 'Source in base64; takes precedence over the file.' },
      },
      classic: null,
      about: 'Plugin that changes analytics records. Requests to an API that enables a second one get 503.',
    },
    pluginEnabled: {
      rule: flagRule,
      classic: '/analytics_plugin.enable',
      oas: null,
      about: 'Enables the plugin that changes analytics records.',
    },
    pluginFunction: {
      rule: textRule,
      classic: '/analytics_plugin.func_name',
      oas: null,
      about: 'Name of the function.',
    },
    pluginPath: {
      rule: textRule,
      interpolation: 'nothing',
      classic: '/analytics_plugin.plugin_path',
      oas: null,
      about: 'Path of the file.',
    },
    pluginCode: {
      rule: textRule,
      interpolation: 'nothing',
      classic: '/analytics_plugin.code',
      oas: null,
      about: 'Source in base64; takes precedence over the file.',
    },
  },
  lens: { fields: ['plugins', 'pluginEnabled', 'pluginFunction', 'pluginPath', 'pluginCode'], derive: derivePlugin },
});

interface RecordPlugin {
  readonly enabled: boolean;
  readonly functionName: string;
  readonly path: string;
  readonly code: string;
}

/** The classic format has one plugin, the OpenAPI format a list; an API that enables a second one is not served. */
function derivePlugin(values: Values, from: DefinitionFormat): Values {
  if (from === 'oas') {
    const [first] = values.plugins as RecordPlugin[];
    if (!first) return values;
    const { enabled: pluginEnabled, functionName: pluginFunction, path: pluginPath, code: pluginCode } = first;
    return { ...values, pluginEnabled, pluginFunction, pluginPath, pluginCode };
  }
  const { pluginEnabled: enabled, pluginFunction: functionName, pluginPath: path, pluginCode: code } = values;
  return { ...values, plugins: functionName || path || code ? [{ enabled, functionName, path, code }] : [] };
}

export const skips = facet({
  name: 'skips',
  about: 'Limits of keys that do not apply to this API.',
  classic: '',
  oas: 'middleware.global',
  fields: {
    rateLimit: {
      rule: flagRule,
      classic: 'disable_rate_limit',
      oas: 'skipRateLimit',
      about: 'Disables the rate limit of keys.',
    },
    quota: { rule: flagRule, classic: 'disable_quota', oas: 'skipQuota', about: 'Disables the quota of keys.' },
    quotaReset: {
      rule: flagRule,
      classic: 'dont_set_quota_on_create',
      oas: 'skipQuotaReset',
      about: 'Preserves the quota of a key when the key is created or updated.',
    },
  },
});

export const errorOverrides = facet({
  name: 'errorOverrides',
  about: 'Overrides of error responses of the gateway or the upstream.',
  classic: '',
  oas: 'errorOverrides',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('error_overrides_disabled'),
      requiresAnyOf: ['rules'],
      about: 'Enables the overrides.',
    },
    rules: {
      rule: objectRule,
      interpolation: 'nothing',
      classic: snakeCaseOverrides('error_overrides'),
      oas: 'value',
      about: 'Map from status, or class such as 4xx, to a list of rules; the first that matches applies.',
    },
  },
});
