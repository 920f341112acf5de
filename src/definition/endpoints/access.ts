import { z } from 'zod';
import { headerPairs } from '../field-codecs.ts';
import { flag, givenStatus, optionalStatus, text, textMap } from '../rules.ts';
import { feature } from './feature.ts';

const replies = {
  rule: z
    .record(
      z.string(),
      z
        .looseObject({
          action: z.string().optional(),
          code: givenStatus.optional(),
          data: z.string().optional(),
          headers: z.record(z.string(), z.string()).nullable().optional(),
        })
        .nullable(),
    )
    .default({}),
  reads: 'nothing' as const,
  classic: 'method_actions',
  oas: null,
  about: 'An older way to name methods: each with no_action, or with a reply of its own.',
};
const ignoreCase = { rule: flag, classic: 'ignore_case', about: 'The path matches in any case.' };

export const allow = feature({
  name: 'allow',
  about: 'Endpoints that may be called. One entry makes every other endpoint forbidden.',
  classic: 'white_list',
  oas: 'allow',
  fields: { ignoreCase, methodActions: replies },
});

export const block = feature({
  name: 'block',
  about: 'Endpoints that may not be called.',
  classic: 'black_list',
  oas: 'block',
  fields: { ignoreCase, methodActions: replies },
});

export const ignoreAuthentication = feature({
  name: 'ignoreAuthentication',
  about: 'Endpoints open to everybody.',
  classic: 'ignored',
  oas: 'ignoreAuthentication',
  fields: { ignoreCase, methodActions: replies },
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
    code: { rule: optionalStatus, about: 'The status; 0 for 200.' },
    body: { rule: text, reads: 'nothing', about: 'The body.' },
    headers: { rule: textMap, reads: 'nothing', oas: headerPairs('headers'), about: 'The headers.' },
    fromExamples: {
      rule: flag,
      classic: null,
      oas: 'fromOASExamples.enabled',
      about: 'Takes the answer from the examples and schemas of the document.',
    },
    exampleCode: {
      rule: optionalStatus,
      classic: null,
      oas: 'fromOASExamples.code',
      about: 'The status whose example is used.',
    },
    exampleContentType: {
      rule: text,
      classic: null,
      oas: 'fromOASExamples.contentType',
      about: 'The content type whose example is used.',
    },
    exampleName: { rule: text, classic: null, oas: 'fromOASExamples.exampleName', about: 'The example used.' },
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
    audience: { rule: text, about: 'Whom the new token is for.' },
    scopes: { rule: z.array(z.string()).default([]), about: 'What it may be used for.' },
  },
});
