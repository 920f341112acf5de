import { z } from 'zod';
import { headerPairs } from '../field-codecs.ts';
import { flagRule, optionalStatusRule, responseStatusRule, textMapRule, textRule } from '../rules.ts';
import { feature } from './feature.ts';

const methodActions = {
  rule: z
    .record(
      z.string(),
      z
        .looseObject({
          action: z.string().optional(),
          code: responseStatusRule.optional(),
          data: z.string().optional(),
          headers: z.record(z.string(), z.string()).nullable().optional(),
        })
        .nullable(),
    )
    .default({}),
  interpolation: 'nothing' as const,
  classic: 'method_actions',
  oas: null,
  about: 'Older notation of the methods: each with `no_action`, or with a mock response.',
};
const ignoreCase = { rule: flagRule, classic: 'ignore_case', about: 'Matches the path case-insensitively.' };

export const allow = feature({
  name: 'allow',
  about: 'Allow list of endpoints. With one entry, every other endpoint is forbidden.',
  classic: 'white_list',
  oas: 'allow',
  fields: { ignoreCase, methodActions: methodActions },
});

export const block = feature({
  name: 'block',
  about: 'Block list of endpoints.',
  classic: 'black_list',
  oas: 'block',
  fields: { ignoreCase, methodActions: methodActions },
});

export const ignoreAuthentication = feature({
  name: 'ignoreAuthentication',
  about: 'Endpoints without authentication.',
  classic: 'ignored',
  oas: 'ignoreAuthentication',
  fields: { ignoreCase, methodActions: methodActions },
});

export const internalEndpoint = feature({
  name: 'internal',
  about: 'Endpoints that only loops of other APIs can reach.',
  classic: 'internal',
  oas: 'internal',
  fields: {},
});

export const mockResponse = feature({
  name: 'mockResponse',
  about: 'Mock responses: endpoints that the gateway answers without the upstream.',
  classic: 'mock_response',
  oas: 'mockResponse',
  fields: {
    ignoreCase: { ...ignoreCase, oas: null },
    code: { rule: optionalStatusRule, about: 'Status of the response; 0 for 200.' },
    body: { rule: textRule, interpolation: 'nothing', about: 'Body of the response.' },
    headers: {
      rule: textMapRule,
      interpolation: 'nothing',
      oas: headerPairs('headers'),
      about: 'Headers of the response.',
    },
    fromExamples: {
      rule: flagRule,
      classic: null,
      oas: 'fromOASExamples.enabled',
      about: 'Takes the response from the examples and schemas of the OpenAPI document.',
    },
    exampleCode: {
      rule: optionalStatusRule,
      classic: null,
      oas: 'fromOASExamples.code',
      about: 'Status of the example.',
    },
    exampleContentType: {
      rule: textRule,
      classic: null,
      oas: 'fromOASExamples.contentType',
      about: 'Content type of the example.',
    },
    exampleName: { rule: textRule, classic: null, oas: 'fromOASExamples.exampleName', about: 'Name of the example.' },
  },
});

export const scopeCheck = feature({
  name: 'scopeCheck',
  about: 'Enables or disables the scope check of the operation.',
  classic: null,
  oas: 'scopeCheck',
  fields: {},
});

export const exchange = feature({
  name: 'exchange',
  about: 'Target of the token exchange at this endpoint.',
  classic: null,
  oas: 'exchange',
  fields: {
    audience: { rule: textRule, about: 'Audience of the new token.' },
    scopes: { rule: z.array(z.string()).default([]), about: 'Scopes of the new token.' },
  },
});
