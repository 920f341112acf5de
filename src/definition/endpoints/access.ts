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
  about: 'An older way to name methods: each with no_action, or with a reply of its own.',
};
const ignoreCase = { rule: flagRule, classic: 'ignore_case', about: 'The path matches in any case.' };

export const allow = feature({
  name: 'allow',
  about: 'Endpoints that may be called. One entry makes every other endpoint forbidden.',
  classic: 'white_list',
  oas: 'allow',
  fields: { ignoreCase, methodActions: methodActions },
});

export const block = feature({
  name: 'block',
  about: 'Endpoints that may not be called.',
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
  about: 'Endpoints reached only from inside, by looping.',
  classic: 'internal',
  oas: 'internal',
  fields: {},
});

export const mockResponse = feature({
  name: 'mockResponse',
  about: 'Endpoints the gateway answers itself.',
  classic: 'mock_response',
  oas: 'mockResponse',
  fields: {
    ignoreCase: { ...ignoreCase, oas: null },
    code: { rule: optionalStatusRule, about: 'The status; 0 for 200.' },
    body: { rule: textRule, interpolation: 'nothing', about: 'The body.' },
    headers: { rule: textMapRule, interpolation: 'nothing', oas: headerPairs('headers'), about: 'The headers.' },
    fromExamples: {
      rule: flagRule,
      classic: null,
      oas: 'fromOASExamples.enabled',
      about: 'Takes the answer from the examples and schemas of the document.',
    },
    exampleCode: {
      rule: optionalStatusRule,
      classic: null,
      oas: 'fromOASExamples.code',
      about: 'The status whose example is used.',
    },
    exampleContentType: {
      rule: textRule,
      classic: null,
      oas: 'fromOASExamples.contentType',
      about: 'The content type whose example is used.',
    },
    exampleName: { rule: textRule, classic: null, oas: 'fromOASExamples.exampleName', about: 'The example used.' },
  },
});

export const scopeCheck = feature({
  name: 'scopeCheck',
  about: 'Whether the scopes of the operation are asked for.',
  classic: null,
  oas: 'scopeCheck',
  fields: {},
});

export const exchange = feature({
  name: 'exchange',
  about: 'What the token of the caller is exchanged for at this endpoint.',
  classic: null,
  oas: 'exchange',
  fields: {
    audience: { rule: textRule, about: 'Whom the new token is for.' },
    scopes: { rule: z.array(z.string()).default([]), about: 'What it may be used for.' },
  },
});
