import { Lru } from '#base/lru.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { canonicalizePath, type InvalidPath, isInvalidPath } from '../http/path.ts';
import { isAuthority } from '../http/request-head.ts';
import type { Exchange, RewrittenTarget } from '../pipeline/exchange.ts';
import { parseLoopControls } from '../pipeline/loops.ts';
import { ApiCompileError, type StepContext } from '../pipeline/step.ts';
import type { LoopControls, UpstreamAddress } from '../pipeline/upstream-address.ts';
import { parseUpstreamAddress } from '../proxy/load-balancer.ts';
import { escapeUrlValue, resolveVariable, type VariableServices } from '../variables/variables.ts';
import { type Captures, parseUrlTemplate, splitQueryPairs, splitSections, type TemplatePart } from './url-template.ts';

/**
 * Compiled rewrite target. The literal text of the author determines host, path and query; captures and variables can
 * neither leave that path nor, unless in host position, choose another host.
 */
export type RewriteTarget = (call: Exchange, captured: Captures) => RewrittenTarget | InvalidPath;

/** Addresses cached per target whose host depends on the request. */
const maxCachedAddresses = 200;

/** Context that targets of rewrites are compiled from. */
export type RewriteContext = StepContext<VariableServices, { also: { api: ['listen'] } }>;

export function compileRewriteTarget(text: string, groups: number, context: RewriteContext): RewriteTarget {
  const parts = parseUrlTemplate(text, groups, context.services);
  const { scheme, authority, path, query } = splitSections(parts);
  const build = createPathBuilder(path, query);
  if (scheme === 'gw') return createLoopTarget(authority, path, query);
  if (scheme !== '') return createHostTarget(scheme, authority, build);
  const [first] = parts;
  if (typeof first === 'object' && 'from' in first) return createVariableTarget(first, parts, context);
  return createRelativeTarget(build, context);
}

interface PathAndQuery {
  readonly path: string;
  readonly query: string;
}

type BuildPathAndQuery = (call: Exchange, captured: Captures) => PathAndQuery | InvalidPath;

function createPathBuilder(path: readonly TemplatePart[], query: readonly TemplatePart[]): BuildPathAndQuery {
  const pathText = path.filter(it => typeof it === 'string').join('');
  if (dotSegment.test(pathText)) throw new ApiCompileError('the rewrite target contains dot segments');
  return (call, captured) => {
    const { front, behind } = fillPath(path, call, captured);
    const own = query.length === 0 ? '' : fillQuery(query, call, captured);
    return toPathAndQuery(front, own && behind ? `${own}&${behind}` : own || behind);
  };
}

/** Also where an upstream that decodes too early would end the segment. */
const dotSegment = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:[/;]|%(?:23|2f|3b|3f|5c)|$)/i;

/** Canonicalizes the path; escaped slashes stay, since only variables and captures can contain them. */
function toPathAndQuery(path: string, query: string): PathAndQuery | InvalidPath {
  const absolute = path.startsWith('/') ? path : `/${path}`;
  if (dotSegment.test(absolute)) return { fault: 'the path contains dot segments' };
  const canonical = canonicalizePath(absolute, { keepEncodedSlashes: true, keepDoubleEncoding: true });
  return isInvalidPath(canonical) ? canonical : { path: canonical, query };
}

/** A capture that reaches into the query keeps that part, after the query of the author. */
function fillPath(parts: readonly TemplatePart[], call: Exchange, captured: Captures) {
  let front = '';
  let behind = '';
  for (const part of parts) {
    if (typeof part === 'string') front += part;
    else if ('from' in part) front += escapeUrlValue(resolveVariable(part, call));
    else {
      const text = captured.text(part.group);
      const mark = text.indexOf('?');
      front += mark < 0 ? text : text.slice(0, mark);
      if (mark >= 0) behind += (behind && '&') + text.slice(mark + 1);
    }
  }
  return { front, behind };
}

function fillQuery(parts: readonly TemplatePart[], call: Exchange, captured: Captures): string {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else if ('from' in part) text += escapeUrlValue(resolveVariable(part, call));
    else text += endsInParameterValue.test(text) ? captured.asValue(part.group) : captured.text(part.group);
  }
  return text;
}

/** The text ends inside a parameter value. */
const endsInParameterValue = /=[^&=]*$/;

function createRelativeTarget(build: BuildPathAndQuery, { model }: RewriteContext): RewriteTarget {
  const { strip } = model.listen;
  return (call, captured) => {
    const found = build(call, captured);
    if ('fault' in found) return found;
    const path = strip ? stripListenPath(found.path, call.listenPath) : found.path;
    return { address: undefined, path, query: found.query };
  };
}

function stripListenPath(path: string, listenPath: string): string {
  const front = trimTrailingSlashes(listenPath);
  if (front === '' || !path.startsWith(front)) return path;
  const rest = path.slice(front.length);
  return rest === '' ? '/' : rest.startsWith('/') ? rest : path;
}

function createHostTarget(scheme: string, authority: readonly TemplatePart[], build: BuildPathAndQuery): RewriteTarget {
  const [only] = authority;
  if (authority.length === 0) throw new ApiCompileError('the rewrite target has no host');
  if (authority.length > 1 || typeof only !== 'string') {
    const find = createAddressCache();
    return createAbsoluteTarget((call, captured) => find(scheme, fillText(authority, call, captured)), build);
  }
  const address = toAddress(scheme, only);
  if ('fault' in address) throw new ApiCompileError(`the rewrite target has no host: ${JSON.stringify(only)}`);
  return createAbsoluteTarget(() => address, build);
}

type FindAddress = (call: Exchange, captured: Captures) => UpstreamAddress | InvalidPath;

const createAbsoluteTarget =
  (find: FindAddress, build: BuildPathAndQuery): RewriteTarget =>
  (call, captured) => {
    const address = find(call, captured);
    if ('fault' in address) return address;
    const found = build(call, captured);
    return 'fault' in found ? found : { address, ...found };
  };

/** Cache of addresses whose host depends on the request. */
function createAddressCache() {
  const cache = new Lru<string, UpstreamAddress>(maxCachedAddresses);
  return (scheme: string, host: string): UpstreamAddress | InvalidPath => {
    const origin = `${scheme}://${host}`;
    const address = cache.get(origin) ?? toAddress(scheme, host);
    if (!('fault' in address)) cache.set(origin, address);
    return address;
  };
}

/** Host and port only: no user, no path, nothing two parsers could read as different hosts. */
function toAddress(scheme: string, host: string): UpstreamAddress | InvalidPath {
  return isAuthority(host) ? parseUpstreamAddress(`${scheme}://${host}`) : { fault: 'the host is invalid' };
}

const fillPart = (part: TemplatePart, call: Exchange, captured: Captures): string =>
  typeof part === 'string' ? part : 'from' in part ? resolveVariable(part, call) : captured.text(part.group);
const fillText = (parts: readonly TemplatePart[], call: Exchange, captured: Captures): string =>
  parts.map(part => fillPart(part, call, captured)).join('');

const absoluteUrl = /^(https?):\/\/([^/?#]*)(.*)$/is;

/** A leading variable may contain an absolute URL, as the author intends. */
function createVariableTarget(
  first: TemplatePart,
  parts: readonly TemplatePart[],
  context: RewriteContext,
): RewriteTarget {
  const rest = splitSections(parts.slice(1));
  const buildRest = createPathBuilder(rest.path, rest.query);
  const { path, query } = splitSections(parts);
  const relative = createRelativeTarget(createPathBuilder(path, query), context);
  const find = createAddressCache();
  return (call, captured) => {
    const [, scheme, host, behind] = absoluteUrl.exec(fillPart(first, call, captured)) ?? [];
    if (scheme === undefined) return relative(call, captured);
    const address = find(scheme.toLowerCase(), host!);
    if ('fault' in address) return address;
    const found = buildRest(call, captured);
    if ('fault' in found) return found;
    const [front = '', own = ''] = behind!.split('#', 1)[0]!.split('?', 2);
    const queries = [own, found.query].filter(Boolean).join('&');
    const whole = toPathAndQuery(
      front.replace(/\/$/, '') + (found.path === '/' && front !== '' ? '' : found.path),
      queries,
    );
    return 'fault' in whole ? whole : { address, ...whole };
  };
}

const loopHost = /^[\w.-]{1,255}$/;

/** Loop to another API. Loop controls come from the target of the author, never from the client. */
function createLoopTarget(
  authority: readonly TemplatePart[],
  path: readonly TemplatePart[],
  query: readonly TemplatePart[],
): RewriteTarget {
  const { controls, others } = splitQueryPairs(query);
  const build = createPathBuilder(path, others);
  if (authority.length === 0) throw new ApiCompileError('the rewrite target references no API');
  return (call, captured) => {
    const name = fillText(authority, call, captured);
    if (!loopHost.test(name)) return { fault: 'the host does not identify an API' };
    const found = build(call, captured);
    if ('fault' in found) return found;
    const controlQuery = controls.map(pair => fillQuery(pair, call, captured).split('&', 1)[0]).join('&');
    const merged: LoopControls = { ...parseLoopControls(controlQuery), query: parseLoopControls(found.query).query };
    return { address: { ...noAddress, loop: name, controls: merged }, path: found.path, query: merged.query };
  };
}

const noAddress: UpstreamAddress = { origin: '', host: '', path: '', query: '', loop: '' };
