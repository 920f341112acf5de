import { z } from 'zod';
import type { DefinitionFormat, Values } from '../facet.ts';
import { headerPairs } from '../field-codecs.ts';
import { choiceRule, flagRule, regexRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { feature } from './feature.ts';
import { triggers } from './triggers.ts';

export const transformRequestMethod = feature({
  name: 'transformRequestMethod',
  about: 'Another method for the upstream.',
  classic: 'method_transforms',
  oas: 'transformRequestMethod',
  fields: { toMethod: { rule: textRule, classic: 'to_method', about: 'That method.' } },
});

const headerFields = {
  remove: { rule: textListRule, classic: 'delete_headers', about: 'Headers removed first.' },
  add: {
    rule: textMapRule,
    interpolation: 'variables',
    classic: 'add_headers',
    oas: headerPairs('add'),
    about: 'Headers set, in place of others.',
  },
  actOn: { rule: flagRule, classic: 'act_on', oas: null, about: 'Stored for older tools; has no effect.' },
} as const;

export const transformRequestHeaders = feature({
  name: 'transformRequestHeaders',
  about: 'Headers changed on the way to the upstream.',
  classic: 'transform_headers',
  oas: 'transformRequestHeaders',
  fields: { ...headerFields, add: { ...headerFields.add, secret: 'all' } },
});

export const transformResponseHeaders = feature({
  name: 'transformResponseHeaders',
  about: 'Headers changed on the way back.',
  classic: 'transform_response_headers',
  oas: 'transformResponseHeaders',
  fields: headerFields,
});

const templateFields = {
  format: {
    rule: choiceRule('json', 'xml'),
    classic: 'template_data.input_type',
    about: 'What the body is read as.',
  },
  mode: {
    rule: choiceRule('blob', 'file'),
    classic: 'template_data.template_mode',
    oas: null,
    about: 'Whether the source is the template itself, in base64, or a file.',
  },
  source: {
    rule: textRule,
    interpolation: 'variables',
    classic: 'template_data.template_source',
    oas: null,
    about: 'The template.',
  },
  enableSession: {
    rule: flagRule,
    classic: 'template_data.enable_session',
    oas: null,
    about: 'Lets the template see the metadata of the session; always so in the OpenAPI form.',
  },
  body: {
    rule: textRule,
    interpolation: 'variables',
    classic: null,
    about: 'The template itself in base64; it wins over the file.',
  },
  file: { rule: textRule, interpolation: 'nothing', classic: null, oas: 'path', about: 'The file the template is in.' },
} as const;

/** The OpenAPI format has a member per kind of source, the classic format one source and its kind. */
function deriveTemplateSource(values: Values, from: DefinitionFormat): Values {
  if (from === 'oas') return { ...values, ...toClassicSource(values.body, values.file), enableSession: true };
  return { ...values, ...toOasSource(values.mode, values.source) };
}

export const toClassicSource = (body: unknown, file: unknown) =>
  body ? { mode: 'blob', source: body } : file ? { mode: 'file', source: file } : { mode: '', source: '' };
export const toOasSource = (mode: unknown, source: unknown) =>
  mode === 'file' ? { body: '', file: source } : { body: source, file: '' };

const templateLens = { fields: ['mode', 'source', 'enableSession', 'body', 'file'], derive: deriveTemplateSource };

export const transformRequestBody = feature({
  name: 'transformRequestBody',
  about: 'A template that replaces the request body.',
  classic: 'transform',
  oas: 'transformRequestBody',
  fields: templateFields,
  lens: templateLens,
});

export const transformResponseBody = feature({
  name: 'transformResponseBody',
  about: 'A template that replaces the response body.',
  classic: 'transform_response',
  oas: 'transformResponseBody',
  fields: templateFields,
  lens: templateLens,
});

const jqFields = { filter: { rule: textRule, interpolation: 'nothing', about: 'The jq program.' } } as const;

export const transformJq = feature({
  name: 'transformJq',
  about: 'A jq program that replaces the request body.',
  classic: 'transform_jq',
  oas: null,
  fields: jqFields,
});

export const transformJqResponse = feature({
  name: 'transformJqResponse',
  about: 'A jq program that replaces the response body.',
  classic: 'transform_jq_response',
  oas: null,
  fields: jqFields,
});

export const urlRewrite = feature({
  name: 'urlRewrite',
  about: 'Another path, or another target, for the call.',
  classic: 'url_rewrites',
  oas: 'urlRewrite',
  fields: {
    pattern: { rule: regexRule, classic: 'match_pattern', about: 'What the path and query must match.' },
    rewriteTo: {
      rule: textRule,
      interpolation: 'variables',
      classic: 'rewrite_to',
      about: 'The new path or address; $1 is the first group.',
    },
    triggers,
  },
});

export const persistGraphql = feature({
  name: 'persistGraphql',
  about: 'A GraphQL operation behind a plain path.',
  classic: 'persist_graphql',
  oas: null,
  fields: {
    operation: { rule: textRule, interpolation: 'nothing', about: 'The operation sent.' },
    variables: {
      rule: z.record(z.string(), z.unknown()).default({}),
      interpolation: 'nothing',
      about: 'Its variables; $path.NAME is a segment.',
    },
  },
});
