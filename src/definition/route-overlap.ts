import { normalizeListenPath } from './listen-path.ts';
import { compilePathTemplate, hostLabelPattern } from './path-template.ts';

/** Route overlap: whether one request could match two routes. Where that cannot be decided, it could. */

export const splitListenPath = (path: string): string[] => normalizeListenPath(path).split('/').filter(Boolean);

const hasParameters = (text: string) => text.includes('{');

/** What stands before the first parameter, and behind the last one. */
const literalPrefix = (text: string) => text.slice(0, text.indexOf('{'));
const literalSuffix = (text: string) => text.slice(text.lastIndexOf('}') + 1);

/** Patterns beside each other: their fixed beginnings and ends must agree; what their expressions fit is not compared. */
function patternsOverlap(one: string, other: string): boolean {
  const [lead, otherLead, tail, otherTail] = [
    literalPrefix(one),
    literalPrefix(other),
    literalSuffix(one),
    literalSuffix(other),
  ];
  return (
    (lead.startsWith(otherLead) || otherLead.startsWith(lead)) && (tail.endsWith(otherTail) || otherTail.endsWith(tail))
  );
}

export function segmentsOverlap(one: string, other: string): boolean {
  if (!hasParameters(one))
    return hasParameters(other) ? compilePathTemplate(other).match(one) !== undefined : one === other;
  return hasParameters(other) ? patternsOverlap(one, other) : compilePathTemplate(one).match(other) !== undefined;
}

/** Prefix matching: the last segment of a listen path also answers for segments that begin with it. */
function sharePrefix(one: string, other: string): boolean {
  if (hasParameters(one) || hasParameters(other)) return true;
  return one.startsWith(other) || other.startsWith(one);
}

/** Listen paths take everything below them, so two overlap where the shorter one fits the beginning of the longer. */
export function pathsOverlap(one: readonly string[], other: readonly string[], prefix: boolean): boolean {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) {
    if (segmentsOverlap(one[at]!, other[at]!)) continue;
    return prefix && at === shared - 1 && sharePrefix(one[at]!, other[at]!);
  }
  return true;
}

/** Hosts as routes name them; the empty one is every host. */
export function hostsOverlap(one: string, other: string): boolean {
  if (one === '' || other === '' || one === other) return true;
  if (!hasParameters(one))
    return hasParameters(other) && compilePathTemplate(other, hostLabelPattern).match(one) !== undefined;
  return hasParameters(other)
    ? patternsOverlap(one, other)
    : compilePathTemplate(one, hostLabelPattern).match(other) !== undefined;
}

/** Whether a route names one host, and no pattern. */
export const isLiteralHost = (host: string): boolean => host !== '' && !hasParameters(host);

/** The whole labels behind the last parameter of a host, with the dot before them; empty where there are none. */
export function literalHostSuffix(host: string): string {
  const dot = host.indexOf('.', host.lastIndexOf('}'));
  return dot < 0 ? '' : host.slice(dot);
}
