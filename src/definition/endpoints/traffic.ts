import { z } from 'zod';
import type { DefinitionFormat, Values } from '../facet.ts';
import { millisecondsText, negation, secondsText } from '../field-codecs.ts';
import {
  amountRule,
  choiceRule,
  countRule,
  flagRule,
  objectRule,
  optionalStatusRule,
  regexRule,
  secondsRule,
  statusCodesRule,
  textRule,
} from '../rules.ts';
import { feature } from './feature.ts';
import { toClassicSource, toOasSource } from './transforms.ts';

export const cacheEndpoint = feature({
  name: 'cache',
  about: 'Response caching of the endpoint.',
  classic: 'advance_cache_config',
  oas: 'cache',
  fields: {
    timeout: {
      rule: secondsRule,
      about: 'Time in seconds for which a response is cached; 0 for the value of the API.',
    },
    cacheByRegex: {
      rule: regexRule,
      classic: 'cache_key_regex',
      about:
        'Regular expression of the part of the request body that goes into the cache key; empty for the whole body.',
    },
    cacheResponseCodes: {
      rule: statusCodesRule,
      classic: 'cache_response_codes',
      about: 'Status codes that are cached; empty for those of the API.',
    },
  },
});

export const enforceTimeout = feature({
  name: 'enforceTimeout',
  about: 'Upstream timeout of the endpoint.',
  classic: 'hard_timeouts',
  oas: 'enforceTimeout',
  fields: {
    seconds: { rule: secondsRule, classic: 'timeout', oas: 'value', about: 'Timeout in whole seconds.' },
    ms: {
      rule: z.number().min(0).default(0),
      classic: millisecondsText('duration'),
      oas: millisecondsText('duration'),
      about: 'Timeout as a duration such as 1m30s; takes precedence over whole seconds.',
    },
  },
});

export const validateRequest = feature({
  name: 'validateRequest',
  about: 'Validates requests against the OpenAPI document.',
  classic: 'validate_request',
  oas: 'validateRequest',
  fields: {
    enabled: { rule: flagRule, about: 'Enables the entry.' },
    errorResponseCode: {
      rule: optionalStatusRule,
      classic: 'error_response_code',
      about: 'Status of the error response; 0 for 422.',
    },
  },
});

export const validateJson = feature({
  name: 'validateJson',
  about: 'Validates request bodies against a JSON Schema.',
  classic: 'validate_json',
  oas: null,
  fields: {
    schema: { rule: objectRule, interpolation: 'nothing', about: 'JSON Schema.' },
    schemaBase64: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'schema_b64',
      about: 'JSON Schema as text in base64.',
    },
    errorResponseCode: {
      rule: optionalStatusRule,
      classic: 'error_response_code',
      about: 'Status of the error response; 0 for 422.',
    },
  },
});

export const virtualEndpoint = feature({
  name: 'virtualEndpoint',
  about: 'Script that generates the response.',
  classic: 'virtual',
  oas: 'virtualEndpoint',
  fields: {
    functionName: {
      rule: textRule,
      classic: 'response_function_name',
      oas: ['functionName', 'name'],
      about: 'Name of the function.',
    },
    mode: {
      rule: choiceRule('blob', 'file'),
      classic: 'function_source_type',
      oas: null,
      about: 'Kind of source: the script in base64, or a file.',
    },
    source: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'function_source_uri',
      oas: null,
      about: 'Script in base64, or path of its file.',
    },
    body: {
      rule: textRule,
      interpolation: 'nothing',
      classic: null,
      about: 'Script in base64; takes precedence over the file.',
    },
    file: { rule: textRule, interpolation: 'nothing', classic: null, oas: 'path', about: 'Path of the script file.' },
    requireSession: { rule: flagRule, classic: 'use_session', about: 'Passes the session to the script.' },
    proxyOnError: {
      rule: flagRule,
      classic: 'proxy_on_error',
      about: 'Forwards the request to the upstream if the script fails.',
    },
  },
  lens: {
    fields: ['mode', 'source', 'body', 'file'],
    derive: (values: Values, from: DefinitionFormat) => ({
      ...values,
      ...(from === 'oas' ? toClassicSource(values.body, values.file) : toOasSource(values.mode, values.source)),
    }),
  },
});

export const goPlugin = feature({
  name: 'endpointPlugin',
  about: 'Plugin of the endpoint.',
  classic: 'go_plugin',
  oas: 'postPlugins',
  oasList: true,
  fields: {
    functionName: {
      rule: textRule,
      classic: 'func_name',
      oas: ['functionName', 'name'],
      about: 'Name of the function.',
    },
    file: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'plugin_path',
      oas: 'path',
      about: 'Path of the plugin file.',
    },
    code: { rule: textRule, interpolation: 'nothing', about: 'Source in base64; takes precedence over the file.' },
  },
});

export const circuitBreaker = feature({
  name: 'circuitBreaker',
  about: 'Circuit breaker of the endpoint: stops sending requests to a failing upstream.',
  classic: 'circuit_breakers',
  oas: 'circuitBreaker',
  fields: {
    threshold: {
      rule: z.number().min(0).max(1).default(0),
      classic: 'threshold_percent',
      about: 'Ratio of failures, from 0 to 1, at which the breaker opens.',
    },
    sampleSize: { rule: countRule, classic: 'samples', about: 'Number of requests in the sample.' },
    coolDownPeriod: {
      rule: secondsRule,
      classic: 'return_to_service_after',
      about: 'Time in seconds for which the breaker stays open.',
    },
    halfOpenStateEnabled: {
      rule: flagRule,
      classic: negation('disable_half_open_state'),
      about: 'Enables the half-open state: single requests probe the upstream.',
    },
  },
});

export const trackEndpoint = feature({
  name: 'trackEndpoint',
  about: 'Counts the endpoint separately in analytics.',
  classic: 'track_endpoints',
  oas: 'trackEndpoint',
  fields: {},
});

export const doNotTrackEndpoint = feature({
  name: 'doNotTrackEndpoint',
  about: 'Excludes the endpoint from analytics.',
  classic: 'do_not_track_endpoints',
  oas: 'doNotTrackEndpoint',
  fields: {},
});

export const endpointSizeLimit = feature({
  name: 'requestSizeLimit',
  about: 'Size limit of request bodies of the endpoint.',
  classic: 'size_limits',
  oas: 'requestSizeLimit',
  fields: {
    bytes: { rule: countRule, classic: 'size_limit', oas: 'value', about: 'Maximum size of a request body in bytes.' },
  },
});

export const endpointRateLimit = feature({
  name: 'rateLimit',
  about: 'Rate limit of the endpoint, in place of the limit of the API.',
  classic: 'rate_limit',
  oas: 'rateLimit',
  fields: {
    rate: { rule: amountRule, about: 'Maximum number of requests per period.' },
    perSeconds: {
      rule: amountRule,
      classic: 'per',
      oas: secondsText('per'),
      about: 'Period: seconds in the classic format, a duration such as 1m30s in the OpenAPI format.',
    },
  },
});
