import { Lru } from '#base/lru.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { type BadPath, canonicalPath, isBad } from '../http/path.ts';
import { isAuthority } from '../http/request-head.ts';
import type { Exchange, RewrittenTarget } from '../pipeline/exchange.ts';
import { type LoopControls, loopControls } from '../pipeline/loops.ts';
import { ApiCompileError, type StepContext } from '../pipeline/step.ts';
import { type Destination, destinationOf } from '../proxy/load-balancer.ts';
import { escapeUrlValue, resolveVariable } from '../variables/variables.ts';
import { type Captured, type Piece, piecesOf, queryPairs, sectionsOf } from './url-template.ts';

/**
 * Where a rewrite sends a call, compiled. The author's text decides what is host, path and query; what captures and values
 * hold can neither climb out of that path nor, unless it stands in the place of the host, choose another host.
 */
export type RewriteTarget = (call: Exchange, captured: Captured) => RewrittenTarget | BadPath;

/** Destinations one target remembers whose host depends on the call. */
const destinationsKept = 200;

export function rewriteTarget(text: string, groups: number, context: StepContext): RewriteTarget {
  const pieces = piecesOf(text, groups, context.services);
  const { scheme, authority, path, query } = sectionsOf(pieces);
  const below = belowOf(path, query);
  if (scheme === 'gw') return loopTarget(authority, path, query);
  if (scheme !== '') return hostTarget(scheme, authority, below);
  const [first] = pieces;
  if (typeof first === 'object' && 'from' in first) return openTarget(first, pieces, context);
  return relativeTarget(below, context);
}

interface Below {
  readonly path: string;
  readonly query: string;
}

type Filler = (call: Exchange, captured: Captured) => Below | BadPath;

function belowOf(path: readonly Piece[], query: readonly Piece[]): Filler {
  const pathText = path.filter(it => typeof it === 'string').join('');
  if (dotted.test(pathText)) throw new ApiCompileError('the target of a rewrite holds dotted segments');
  return (call, captured) => {
    const { front, behind } = filledPath(path, call, captured);
    const own = query.length === 0 ? '' : filledQuery(query, call, captured);
    return settled(front, own && behind ? `${own}&${behind}` : own || behind);
  };
}

/** Also where an upstream that undoes escapes too early would see the segment end. */
const dotted = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:[/;]|%(?:23|2f|3b|3f|5c)|$)/i;

/** One spelling, as everywhere; escaped slashes stay what they are, since only values and captures can bring them. */
function settled(path: string, query: string): Below | BadPath {
  const begun = path.startsWith('/') ? path : `/${path}`;
  if (dotted.test(begun)) return { fault: 'the path holds dotted segments' };
  const canonical = canonicalPath(begun, { keepEncodedSlashes: true, keepDoubleEncoding: true });
  return isBad(canonical) ? canonical : { path: canonical, query };
}

/** A capture that reaches into the query takes that along; it comes after what the author wrote there. */
function filledPath(pieces: readonly Piece[], call: Exchange, captured: Captured) {
  let front = '';
  let behind = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') front += piece;
    else if ('from' in piece) front += escapeUrlValue(resolveVariable(piece, call));
    else {
      const text = captured.text(piece.group);
      const mark = text.indexOf('?');
      front += mark < 0 ? text : text.slice(0, mark);
      if (mark >= 0) behind += (behind && '&') + text.slice(mark + 1);
    }
  }
  return { front, behind };
}

function filledQuery(pieces: readonly Piece[], call: Exchange, captured: Captured): string {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else if ('from' in piece) text += escapeUrlValue(resolveVariable(piece, call));
    else text += isValue.test(text) ? captured.asValue(piece.group) : captured.text(piece.group);
  }
  return text;
}

/** What follows is the value of a parameter. */
const isValue = /=[^&=]*$/;

function relativeTarget(below: Filler, { model }: StepContext): RewriteTarget {
  const { strip } = model.listen;
  return (call, captured) => {
    const found = below(call, captured);
    if ('fault' in found) return found;
    const path = strip ? withoutListenPath(found.path, call.listenPath) : found.path;
    return { destination: undefined, path, query: found.query };
  };
}

function withoutListenPath(path: string, listenPath: string): string {
  const front = trimTrailingSlashes(listenPath);
  if (front === '' || !path.startsWith(front)) return path;
  const rest = path.slice(front.length);
  return rest === '' ? '/' : rest.startsWith('/') ? rest : path;
}

function hostTarget(scheme: string, authority: readonly Piece[], below: Filler): RewriteTarget {
  const [only] = authority;
  if (authority.length === 0) throw new ApiCompileError('the target of a rewrite has no host');
  if (authority.length > 1 || typeof only !== 'string') {
    const find = knownDestinations();
    return sentTo((call, captured) => find(scheme, joinedText(authority, call, captured)), below);
  }
  const destination = destinationAt(scheme, only);
  if ('fault' in destination) throw new ApiCompileError(`the target of a rewrite has no host: ${JSON.stringify(only)}`);
  return sentTo(() => destination, below);
}

type FindDestination = (call: Exchange, captured: Captured) => Destination | BadPath;

const sentTo =
  (find: FindDestination, below: Filler): RewriteTarget =>
  (call, captured) => {
    const destination = find(call, captured);
    if ('fault' in destination) return destination;
    const found = below(call, captured);
    return 'fault' in found ? found : { destination, ...found };
  };

/** Those whose host depends on the call are made when they are first met. */
function knownDestinations() {
  const known = new Lru<string, Destination>(destinationsKept);
  return (scheme: string, host: string): Destination | BadPath => {
    const origin = `${scheme}://${host}`;
    const destination = known.get(origin) ?? destinationAt(scheme, host);
    if (!('fault' in destination)) known.set(origin, destination);
    return destination;
  };
}

/** Nothing but a host and a port: no user, no path, nothing that two readers could take for different hosts. */
function destinationAt(scheme: string, host: string): Destination | BadPath {
  return isAuthority(host) ? destinationOf(`${scheme}://${host}`) : { fault: 'the host cannot be read' };
}

const plainText = (piece: Piece, call: Exchange, captured: Captured): string =>
  typeof piece === 'string' ? piece : 'from' in piece ? resolveVariable(piece, call) : captured.text(piece.group);
const joinedText = (pieces: readonly Piece[], call: Exchange, captured: Captured): string =>
  pieces.map(piece => plainText(piece, call, captured)).join('');

const address = /^(https?):\/\/([^/?#]*)(.*)$/is;

/** A variable stands first: it may hold a whole address, and the author meant it to. */
function openTarget(first: Piece, pieces: readonly Piece[], context: StepContext): RewriteTarget {
  const rest = sectionsOf(pieces.slice(1));
  const restBelow = belowOf(rest.path, rest.query);
  const { path, query } = sectionsOf(pieces);
  const relative = relativeTarget(belowOf(path, query), context);
  const find = knownDestinations();
  return (call, captured) => {
    const [, scheme, host, behind] = address.exec(plainText(first, call, captured)) ?? [];
    if (scheme === undefined) return relative(call, captured);
    const destination = find(scheme.toLowerCase(), host!);
    if ('fault' in destination) return destination;
    const found = restBelow(call, captured);
    if ('fault' in found) return found;
    const [front = '', own = ''] = behind!.split('#', 1)[0]!.split('?', 2);
    const queries = [own, found.query].filter(Boolean).join('&');
    const whole = settled(front.replace(/\/$/, '') + (found.path === '/' && front !== '' ? '' : found.path), queries);
    return 'fault' in whole ? whole : { destination, ...whole };
  };
}

const loopHost = /^[\w.-]{1,255}$/;

/** Another API of this gateway. What its address asks of the call is the author's to say: never the caller's. */
function loopTarget(authority: readonly Piece[], path: readonly Piece[], query: readonly Piece[]): RewriteTarget {
  const { controls, others } = queryPairs(query);
  const below = belowOf(path, others);
  if (authority.length === 0) throw new ApiCompileError('the target of a rewrite names no API');
  return (call, captured) => {
    const name = joinedText(authority, call, captured);
    if (!loopHost.test(name)) return { fault: 'the API cannot be told by its name' };
    const found = below(call, captured);
    if ('fault' in found) return found;
    const asked = controls.map(pair => filledQuery(pair, call, captured).split('&', 1)[0]).join('&');
    const kept: LoopControls = { ...loopControls(asked), query: loopControls(found.query).query };
    return { destination: { ...nowhere, loop: name, controls: kept }, path: found.path, query: kept.query };
  };
}

const nowhere: Destination = { origin: '', host: '', path: '', query: '', loop: '' };
