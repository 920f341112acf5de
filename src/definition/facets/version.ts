import { z } from 'zod';
import { facet } from '../facet.ts';
import { headerPairs, millisecondsText, negation } from '../field-codecs.ts';
import { countRule, flagRule, textListRule, textMapRule, textRule } from '../rules.ts';

/**
 * Facets that the classic format has per version and the OpenAPI format, where a version is a separate API, has once.
 * `@version` stands for `version_data.versions.<name>`.
 */
export const versionSettings = facet({
  name: 'version',
  about: 'One version of the API inside its definition.',
  classic: '@version',
  oas: null,
  fields: {
    name: { rule: textRule, about: 'Name of the version.' },
    expires: {
      rule: textRule,
      about: 'Time YYYY-MM-DD HH:MM in UTC after which requests for the version are refused.',
    },
    overrideTarget: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'override_target',
      about: 'Upstream URL of the version.',
    },
    useExtendedPaths: {
      rule: flagRule,
      classic: 'use_extended_paths',
      about: 'Reads endpoint lists from extended_paths instead of paths.',
    },
    ignoreCase: {
      rule: flagRule,
      classic: 'ignore_endpoint_case',
      oas: '/middleware.global.ignoreCase.enabled',
      about: 'Matches paths of endpoint lists case-insensitively.',
    },
    pathsIgnored: {
      rule: textListRule,
      classic: 'paths.ignored',
      about: 'Older list of paths without authentication.',
    },
    pathsAllowed: { rule: textListRule, classic: 'paths.white_list', about: 'Older list of allowed paths.' },
    pathsBlocked: { rule: textListRule, classic: 'paths.black_list', about: 'Older list of blocked paths.' },
    responseHeadersKept: {
      rule: flagRule,
      classic: 'global_response_headers_disabled',
      about: 'Disables header changes of all responses, those of processors included.',
    },
    cachedPaths: {
      rule: textListRule,
      classic: 'extended_paths.cache',
      about: 'Paths whose GET, HEAD and OPTIONS responses are cached.',
    },
  },
});

export const requestHeaders = facet({
  name: 'requestHeaders',
  about: 'Header changes of every upstream request.',
  classic: '@version',
  oas: 'middleware.global.transformRequestHeaders',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_headers_disabled'),
      requiresAnyOf: ['add', 'remove'],
      about: 'Enables the header changes.',
    },
    remove: {
      rule: textListRule,
      classic: 'global_headers_remove',
      about: 'Names of headers to remove, before any are set.',
    },
    add: {
      rule: textMapRule,
      interpolation: 'variables',
      secret: 'all',
      classic: 'global_headers',
      oas: headerPairs('add'),
      about: 'Headers to set; they replace headers of the same name.',
    },
  },
});

export const responseHeaders = facet({
  name: 'responseHeaders',
  about: 'Header changes of every response.',
  classic: '@version',
  oas: 'middleware.global.transformResponseHeaders',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_response_headers_disabled'),
      requiresAnyOf: ['add', 'remove'],
      about: 'Enables the header changes.',
    },
    remove: {
      rule: textListRule,
      classic: 'global_response_headers_remove',
      about: 'Names of headers to remove, before any are set.',
    },
    add: {
      rule: textMapRule,
      interpolation: 'variables',
      classic: 'global_response_headers',
      oas: headerPairs('add'),
      about: 'Headers to set; they replace headers of the same name.',
    },
  },
});

export const requestSizeLimit = facet({
  name: 'requestSizeLimit',
  about: 'Size limit of request bodies.',
  classic: '@version',
  oas: 'middleware.global.requestSizeLimit',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_size_limit_disabled'),
      requiresAnyOf: ['bytes'],
      about: 'Enables the size limit.',
    },
    bytes: {
      rule: countRule,
      classic: 'global_size_limit',
      oas: 'value',
      about: 'Maximum size of a request body in bytes.',
    },
  },
});

export const timeout = facet({
  name: 'timeout',
  about: 'Upstream timeout of endpoints without their own.',
  classic: '@version',
  oas: 'upstream.enforceTimeout',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_enforce_timeout_disabled'),
      requiresAnyOf: ['ms'],
      about: 'Enables the timeout.',
    },
    ms: {
      rule: z.number().min(0).default(0),
      classic: millisecondsText('global_enforce_timeout'),
      oas: millisecondsText('duration'),
      about: 'Timeout as a duration such as 1m30s.',
    },
  },
});
