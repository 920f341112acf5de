import { z } from 'zod';
import type { DefinitionFormat, Values } from '../facet.ts';
import { headerPairs } from '../field-codecs.ts';
import { choiceRule, flagRule, regexRule, textListRule, textMapRule, textRule } from '../rules.ts';
import { feature } from './feature.ts';
import { triggers } from './triggers.ts';

export const transformRequestMethod = feature({
  name: 'transformRequestMethod',
  about: 'Replaces the HTTP method of the upstream request.',
  classic: 'method_transforms',
  oas: 'transformRequestMethod',
  fields: { toMethod: { rule: textRule, classic: 'to_method', about: 'New HTTP method.' } },
});

const headerFields = {
  remove: { rule: textListRule, classic: 'delete_headers', about: 'Names of headers to remove, before any are set.' },
  add: {
    rule: textMapRule,
    interpolation: 'variables',
    classic: 'add_headers',
    oas: headerPairs('add'),
    about: 'Headers to set; they replace headers of the same name.',
  },
  actOn: { rule: flagRule, classic: 'act_on', oas: null, about: 'Stored for older tools; has no effect.' },
} as const;

export const transformRequestHeaders = feature({
  name: 'transformRequestHeaders',
  about: 'Changes headers of the upstream request.',
  classic: 'transform_headers',
  oas: 'transformRequestHeaders',
  fields: { ...headerFields, add: { ...headerFields.add, secret: 'all' } },
});

export const transformResponseHeaders = feature({
  name: 'transformResponseHeaders',
  about: 'Changes headers of the response.',
  classic: 'transform_response_headers',
  oas: 'transformResponseHeaders',
  fields: headerFields,
});

const templateFields = {
  format: {
    rule: choiceRule('json', 'xml'),
    classic: 'template_data.input_type',
    about: 'Format in which the body is parsed.',
  },
  mode: {
    rule: choiceRule('blob', 'file'),
    classic: 'template_data.template_mode',
    oas: null,
    about: 'Kind of source: the template in base64, or a file.',
  },
  source: {
    rule: textRule,
    interpolation: 'variables',
    classic: 'template_data.template_source',
    oas: null,
    about: 'Template in base64, or path of its file.',
  },
  enableSession: {
    rule: flagRule,
    classic: 'template_data.enable_session',
    oas: null,
    about: 'Gives the template access to the metadata of the session; always on in the OpenAPI format.',
  },
  body: {
    rule: textRule,
    interpolation: 'variables',
    classic: null,
    about: 'Template in base64; takes precedence over the file.',
  },
  file: { rule: textRule, interpolation: 'nothing', classic: null, oas: 'path', about: 'Path of the template file.' },
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
  about: 'Replaces the request body with the output of a template.',
  classic: 'transform',
  oas: 'transformRequestBody',
  fields: templateFields,
  lens: templateLens,
});

export const transformResponseBody = feature({
  name: 'transformResponseBody',
  about: 'Replaces the response body with the output of a template.',
  classic: 'transform_response',
  oas: 'transformResponseBody',
  fields: templateFields,
  lens: templateLens,
});

const jqFields = { filter: { rule: textRule, interpolation: 'nothing', about: 'jq program.' } } as const;

export const transformJq = feature({
  name: 'transformJq',
  about: 'Replaces the request body with the output of a jq program.',
  classic: 'transform_jq',
  oas: null,
  fields: jqFields,
});

export const transformJqResponse = feature({
  name: 'transformJqResponse',
  about: 'Replaces the response body with the output of a jq program.',
  classic: 'transform_jq_response',
  oas: null,
  fields: jqFields,
});

export const urlRewrite = feature({
  name: 'urlRewrite',
  about: 'URL rewrite: another path or another target for the request.',
  classic: 'url_rewrites',
  oas: 'urlRewrite',
  fields: {
    pattern: { rule: regexRule, classic: 'match_pattern', about: 'Regular expression that path and query must match.' },
    rewriteTo: {
      rule: textRule,
      interpolation: 'variables',
      classic: 'rewrite_to',
      about: 'New path or URL; `$1` is the first group.',
    },
    triggers,
  },
});

export const persistGraphql = feature({
  name: 'persistGraphql',
  about: 'Maps the endpoint to a GraphQL operation.',
  classic: 'persist_graphql',
  oas: null,
  fields: {
    operation: { rule: textRule, interpolation: 'nothing', about: 'GraphQL operation sent to the upstream.' },
    variables: {
      rule: z.record(z.string(), z.unknown()).default({}),
      interpolation: 'nothing',
      about: 'Variables of the operation; `$path.NAME` is a path segment.',
    },
  },
});
