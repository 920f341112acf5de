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
    name: { rule: textRule, about: 'The name calls use.' },
    expires: { rule: textRule, about: 'YYYY-MM-DD HH:MM in UTC after which the version is refused.' },
    overrideTarget: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'override_target',
      about: 'An upstream of its own.',
    },
    useExtendedPaths: {
      rule: flagRule,
      classic: 'use_extended_paths',
      about: 'Endpoint lists are read from extended_paths instead of paths.',
    },
    ignoreCase: {
      rule: flagRule,
      classic: 'ignore_endpoint_case',
      oas: '/middleware.global.ignoreCase.enabled',
      about: 'Paths of endpoint lists match in any case.',
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
      about: 'Leaves out every header change that holds for all answers, those of processors too.',
    },
    cachedPaths: {
      rule: textListRule,
      classic: 'extended_paths.cache',
      about: 'Paths whose GET, HEAD and OPTIONS answers are cached.',
    },
  },
});

export const requestHeaders = facet({
  name: 'requestHeaders',
  about: 'Headers changed on every call that goes upstream.',
  classic: '@version',
  oas: 'middleware.global.transformRequestHeaders',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_headers_disabled'),
      requiresAnyOf: ['add', 'remove'],
      about: 'Changes them.',
    },
    remove: { rule: textListRule, classic: 'global_headers_remove', about: 'Headers removed first.' },
    add: {
      rule: textMapRule,
      interpolation: 'variables',
      secret: 'all',
      classic: 'global_headers',
      oas: headerPairs('add'),
      about: 'Headers set, in place of others.',
    },
  },
});

export const responseHeaders = facet({
  name: 'responseHeaders',
  about: 'Headers changed on every answer.',
  classic: '@version',
  oas: 'middleware.global.transformResponseHeaders',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_response_headers_disabled'),
      requiresAnyOf: ['add', 'remove'],
      about: 'Changes them.',
    },
    remove: { rule: textListRule, classic: 'global_response_headers_remove', about: 'Headers removed first.' },
    add: {
      rule: textMapRule,
      interpolation: 'variables',
      classic: 'global_response_headers',
      oas: headerPairs('add'),
      about: 'Headers set, in place of others.',
    },
  },
});

export const requestSizeLimit = facet({
  name: 'requestSizeLimit',
  about: 'How large a request body may be.',
  classic: '@version',
  oas: 'middleware.global.requestSizeLimit',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_size_limit_disabled'),
      requiresAnyOf: ['bytes'],
      about: 'Refuses larger ones.',
    },
    bytes: { rule: countRule, classic: 'global_size_limit', oas: 'value', about: 'The most bytes.' },
  },
});

export const timeout = facet({
  name: 'timeout',
  about: 'How long the upstream may take, for every endpoint that says nothing else.',
  classic: '@version',
  oas: 'upstream.enforceTimeout',
  fields: {
    enabled: {
      rule: flagRule,
      classic: negation('global_enforce_timeout_disabled'),
      requiresAnyOf: ['ms'],
      about: 'Gives up after it.',
    },
    ms: {
      rule: z.number().min(0).default(0),
      classic: millisecondsText('global_enforce_timeout'),
      oas: millisecondsText('duration'),
      about: 'The time allowed.',
    },
  },
});
