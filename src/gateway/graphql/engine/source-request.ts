import type { DataSource } from '#definition/data-graph/data-source.ts';
import { parseSourceTemplate, type TemplateReference } from '#definition/data-graph/source-template.ts';
import { framingHeaders } from '../../http/headers.ts';
import { resolveDots } from '../../http/path.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { parseUpstreamAddress } from '../../proxy/load-balancer.ts';
import { escapeUrl } from '../../transform/url-template.ts';
import { compileVariables, escapeHeaderValue, type VariableServices } from '../../variables/variables.ts';
import type { SourceRequest } from '../data-graph.ts';
import { compileSourceBody } from './source-body.ts';
import { SourceError } from './source-error.ts';
import { readReference, type SourceScope } from './source-scope.ts';
import { compileSourceText, escapeInPath, escapeInQuery, escapePlain, type FillTemplate } from './templates.ts';

/** Builds the request of a source; `operation` is the one that was built for a GraphQL source. */
export type BuildSourceRequest = (scope: SourceScope, operation?: object) => SourceRequest;

interface HeaderTemplate {
  readonly name: string;
  readonly value: FillTemplate;
}

const urlPattern = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)(?:\?([^#]*))?/i;

/** Compiles the request of a source: no value of a client changes its host, the segments of its path or its headers. */
export function compileSourceRequest(
  source: DataSource,
  globalHeaders: DataSource['headers'],
  services: VariableServices,
  targetOrigin: string,
): BuildSourceRequest {
  const [, origin = '', path = '', query = ''] = urlPattern.exec(source.url) ?? [];
  const address = parseUpstreamAddress(compileVariables(origin, services)({ context: undefined, session: undefined }));
  const literalPath = parseSourceTemplate(path || '/').map(part => (typeof part === 'string' ? part : 'x'));
  if (resolveDots(literalPath.join('')) !== literalPath.join(''))
    throw new ApiCompileError(`the path of the data source ${source.name} has empty or dot segments`);
  const fillPath = compileSourceText(path || '/', services, escapeInPath, escapeUrl);
  const fillQuery = compileQuery(query, source, services);
  const fillBody = compileSourceBody(source, services);
  const headers = compileHeaders(source.headers, globalHeaders, services);
  const contentType = headers.some(({ name }) => name.toLowerCase() === 'content-type') ? '' : fillBody.contentType;
  const { name: sourceName, place: sourcePlace } = source;
  const receivesCredential = address.origin !== '' && address.origin === targetOrigin;
  const method = source.method.toUpperCase();
  return (scope, operation) => {
    const filledPath = fillPath(scope);
    // A value of dots alone is not encoded, and would climb.
    if (resolveDots(filledPath) !== filledPath) throw new SourceError('an argument is no segment of a path');
    const body = operation ? Buffer.from(JSON.stringify(operation)) : fillBody.fill(scope);
    const filled = headers.flatMap(({ name, value }) => [name, escapeHeaderValue(value(scope))]);
    if (body && contentType !== '') filled.push('Content-Type', contentType);
    const query = fillQuery(scope);
    return {
      ...{ sourceName, sourcePlace, method, address, query, body, receivesCredential },
      path: filledPath,
      headers: filled,
    };
  };
}

/** Headers of the source, then those of the graph that it does not set. */
function compileHeaders(
  own: DataSource['headers'],
  global: DataSource['headers'],
  services: VariableServices,
): HeaderTemplate[] {
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  return [...own, ...global.filter(([name]) => !names.has(name.toLowerCase()))].map(([name, text]) => {
    if (framingHeaders.has(name.toLowerCase()))
      throw new ApiCompileError(`the header ${name} of a data source cannot be set: the gateway sends it`);
    if (name.toLowerCase() === 'host' && /\{\{|\$gw_/.test(text))
      throw new ApiCompileError('the header Host of a data source must be fixed');
    return { name, value: compileSourceText(text, services, escapePlain) };
  });
}

interface QueryPair {
  readonly fill: FillTemplate;
  /** The pair is left out where this value is absent. */
  readonly only: TemplateReference | undefined;
}

/** Parameters of the URL, then those of the list. One whose whole value is an absent argument is left out. */
function compileQuery(query: string, source: DataSource, services: VariableServices): FillTemplate {
  const toPair = (name: string, value: string): QueryPair => {
    const compile = (text: string) => compileSourceText(text, services, escapeInQuery, escapeUrl);
    const fillName = compile(name);
    const fillValue = compile(value);
    const parts = parseSourceTemplate(value);
    const [first] = parts;
    return {
      fill: scope => `${fillName(scope)}=${fillValue(scope)}`,
      only: parts.length === 1 && typeof first === 'object' ? first : undefined,
    };
  };
  const inUrl = query.split('&').filter(pair => pair !== '');
  const pairs = [
    ...inUrl.map(pair => toPair(...splitPair(pair))),
    ...source.query.map(({ name, value }) => toPair(encodeURIComponent(name), encodeLiteral(value))),
  ];
  const isPresent = ({ only }: QueryPair, scope: SourceScope) => !only || (readReference(only, scope) ?? null) !== null;
  return scope => {
    const present = pairs.filter(pair => isPresent(pair, scope));
    return present.map(({ fill }) => fill(scope)).join('&');
  };
}

function splitPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=');
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
}

/** Literal text of a parameter value, templates and variables left as they are. */
const encodeLiteral = (text: string): string => text.replaceAll(/[&#+%]/g, character => encodeURIComponent(character));
