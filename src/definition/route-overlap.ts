import { normalizeListenPath } from './listen-path.ts';
import { compilePathTemplate, hostLabelPattern } from './path-template.ts';

/** Route overlap: whether one request could match two routes. Where that is undecidable, it could. */

export const splitListenPath = (path: string): string[] => normalizeListenPath(path).split('/').filter(Boolean);

const hasParameters = (text: string) => text.includes('{');

/** Literal text before the first parameter, and after the last one. */
const literalPrefix = (text: string) => text.slice(0, text.indexOf('{'));
const literalSuffix = (text: string) => text.slice(text.lastIndexOf('}') + 1);

/** Compares two templates by literal prefix and suffix only; their patterns are not compared. */
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

/** Prefix matching: the last segment of a listen path also matches segments that begin with it. */
function sharePrefix(one: string, other: string): boolean {
  if (hasParameters(one) || hasParameters(other)) return true;
  return one.startsWith(other) || other.startsWith(one);
}

/**
 * A listen path matches everything below it, so two overlap where the shorter one matches the beginning of the longer.
 */
export function pathsOverlap(one: readonly string[], other: readonly string[], prefix: boolean): boolean {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) {
    if (segmentsOverlap(one[at]!, other[at]!)) continue;
    return prefix && at === shared - 1 && sharePrefix(one[at]!, other[at]!);
  }
  return true;
}

/** True where a path is at or below a listen path; with prefix matching also where its last segment continues. */
export function isBelowListenPath(path: readonly string[], listenPath: readonly string[], prefix: boolean): boolean {
  if (path.length < listenPath.length) return false;
  return listenPath.every((segment, at) => {
    if (segmentsOverlap(path[at]!, segment)) return true;
    const isLast = at === listenPath.length - 1;
    return prefix && isLast && (hasParameters(segment) || path[at]!.startsWith(segment));
  });
}

/** The empty host matches every host. */
export function hostsOverlap(one: string, other: string): boolean {
  if (one === '' || other === '' || one === other) return true;
  if (!hasParameters(one))
    return hasParameters(other) && compilePathTemplate(other, hostLabelPattern).match(one) !== undefined;
  return hasParameters(other)
    ? patternsOverlap(one, other)
    : compilePathTemplate(one, hostLabelPattern).match(other) !== undefined;
}

/** True for a host without parameters. */
export const isLiteralHost = (host: string): boolean => host !== '' && !hasParameters(host);

/** Whole labels after the last parameter of a host, with the leading dot; empty where there are none. */
export function literalHostSuffix(host: string): string {
  const dot = host.indexOf('.', host.lastIndexOf('}'));
  return dot < 0 ? '' : host.slice(dot);
}
