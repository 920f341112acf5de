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
  about: 'Caches the responses of this endpoint.',
  classic: 'advance_cache_config',
  oas: 'cache',
  fields: {
    timeout: { rule: secondsRule, about: 'Seconds a response is cached; 0 for the time of the API.' },
    cacheByRegex: {
      rule: regexRule,
      classic: 'cache_key_regex',
      about: 'The part of the body that makes calls different; empty for all of it.',
    },
    cacheResponseCodes: {
      rule: statusCodesRule,
      classic: 'cache_response_codes',
      about: 'Statuses cached; empty for those of the API.',
    },
  },
});

export const enforceTimeout = feature({
  name: 'enforceTimeout',
  about: 'How long the upstream may take here.',
  classic: 'hard_timeouts',
  oas: 'enforceTimeout',
  fields: {
    seconds: { rule: secondsRule, classic: 'timeout', oas: 'value', about: 'The time in whole seconds.' },
    ms: {
      rule: z.number().min(0).default(0),
      classic: millisecondsText('duration'),
      oas: millisecondsText('duration'),
      about: 'The time; it wins over the whole seconds.',
    },
  },
});

export const validateRequest = feature({
  name: 'validateRequest',
  about: 'Checks calls against the OpenAPI document.',
  classic: 'validate_request',
  oas: 'validateRequest',
  fields: {
    enabled: { rule: flagRule, about: 'Lets the entry count.' },
    errorResponseCode: {
      rule: optionalStatusRule,
      classic: 'error_response_code',
      about: 'Status of a refusal; 0 for 422.',
    },
  },
});

export const validateJson = feature({
  name: 'validateJson',
  about: 'Checks bodies against a JSON Schema.',
  classic: 'validate_json',
  oas: null,
  fields: {
    schema: { rule: objectRule, interpolation: 'nothing', about: 'The schema.' },
    schemaBase64: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'schema_b64',
      about: 'The schema as text in base64.',
    },
    errorResponseCode: {
      rule: optionalStatusRule,
      classic: 'error_response_code',
      about: 'Status of a refusal; 0 for 422.',
    },
  },
});

export const virtualEndpoint = feature({
  name: 'virtualEndpoint',
  about: 'A script answers the call.',
  classic: 'virtual',
  oas: 'virtualEndpoint',
  fields: {
    functionName: {
      rule: textRule,
      classic: 'response_function_name',
      oas: ['functionName', 'name'],
      about: 'The function called.',
    },
    mode: {
      rule: choiceRule('blob', 'file'),
      classic: 'function_source_type',
      oas: null,
      about: 'Whether the source is the script itself, in base64, or a file.',
    },
    source: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'function_source_uri',
      oas: null,
      about: 'The script.',
    },
    body: {
      rule: textRule,
      interpolation: 'nothing',
      classic: null,
      about: 'The script itself in base64; it wins over the file.',
    },
    file: { rule: textRule, interpolation: 'nothing', classic: null, oas: 'path', about: 'The file the script is in.' },
    requireSession: { rule: flagRule, classic: 'use_session', about: 'Hands over the session of the caller.' },
    proxyOnError: { rule: flagRule, classic: 'proxy_on_error', about: 'A failing script lets the call go upstream.' },
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
  about: 'A plugin for this endpoint.',
  classic: 'go_plugin',
  oas: 'postPlugins',
  oasList: true,
  fields: {
    functionName: {
      rule: textRule,
      classic: 'func_name',
      oas: ['functionName', 'name'],
      about: 'The function called.',
    },
    file: {
      rule: textRule,
      interpolation: 'nothing',
      classic: 'plugin_path',
      oas: 'path',
      about: 'The file it is in.',
    },
  },
});

export const circuitBreaker = feature({
  name: 'circuitBreaker',
  about: 'Stops calling an upstream that keeps failing.',
  classic: 'circuit_breakers',
  oas: 'circuitBreaker',
  fields: {
    threshold: {
      rule: z.number().min(0).max(1).default(0),
      classic: 'threshold_percent',
      about: 'The share of failures, from 0 to 1, that opens it.',
    },
    sampleSize: { rule: countRule, classic: 'samples', about: 'Calls looked at.' },
    coolDownPeriod: { rule: secondsRule, classic: 'return_to_service_after', about: 'Seconds it stays open.' },
    halfOpenStateEnabled: {
      rule: flagRule,
      classic: negation('disable_half_open_state'),
      about: 'Lets single calls through to see whether the upstream is back.',
    },
  },
});

export const trackEndpoint = feature({
  name: 'trackEndpoint',
  about: 'Counted by itself in analytics.',
  classic: 'track_endpoints',
  oas: 'trackEndpoint',
  fields: {},
});

export const doNotTrackEndpoint = feature({
  name: 'doNotTrackEndpoint',
  about: 'Left out of analytics.',
  classic: 'do_not_track_endpoints',
  oas: 'doNotTrackEndpoint',
  fields: {},
});

export const endpointSizeLimit = feature({
  name: 'requestSizeLimit',
  about: 'How large a request body may be here.',
  classic: 'size_limits',
  oas: 'requestSizeLimit',
  fields: { bytes: { rule: countRule, classic: 'size_limit', oas: 'value', about: 'The most bytes.' } },
});

export const endpointRateLimit = feature({
  name: 'rateLimit',
  about: 'How many calls this endpoint takes in a period, in place of the limit of the API.',
  classic: 'rate_limit',
  oas: 'rateLimit',
  fields: {
    rate: { rule: amountRule, about: 'Calls allowed in one period.' },
    perSeconds: { rule: amountRule, classic: 'per', oas: secondsText('per'), about: 'Length of the period.' },
  },
});
