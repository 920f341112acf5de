import { compileBoundedRegex } from '../pipeline/bounded-regex.ts';

/** The first place where a pattern fits: its text and that of its groups, and where each begins. */
export interface PatternMatch {
  readonly texts: readonly string[];
  /** Below zero where a group took no part. */
  readonly starts: readonly number[];
}

export interface RewritePattern {
  readonly groupCount: number;
  /** Undefined where it fits nowhere. */
  match(text: string): PatternMatch | undefined;
}

/** `most`: instructions it may have, where it may have fewer than others. */
export function compileRewritePattern(source: string, what: string, maxInstructions?: number): RewritePattern {
  const compiled = compileBoundedRegex(
    `the pattern of ${what}`,
    source,
    maxInstructions === undefined ? {} : { maxInstructions: maxInstructions },
  );
  const groupCount = compiled.groupCount();
  const native = compileNative(source);
  if (native) return { groupCount, match: text => toPatternMatch(native.exec(text)) };
  return {
    groupCount,
    match(text) {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return undefined;
      const texts: string[] = [];
      const starts: number[] = [];
      for (let group = 0; group <= groupCount; group++) {
        texts.push(matcher.group(group) ?? '');
        starts.push(matcher.start(group));
      }
      return { texts, starts };
    },
  };
}

function toPatternMatch(found: RegExpExecArray | null): PatternMatch | undefined {
  if (!found) return undefined;
  const { indices } = found;
  return { texts: found.map(text => text ?? ''), starts: indices!.map(place => place?.[0] ?? -1) };
}

const literal = String.raw`(?:[\w~%@:=&,-]|\\[./?-]|\.(?![*+?{]))*`;
/** No range of these holds a slash. */
const range = String.raw`\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|\w)+-?\]\+`;
const open = String.raw`(?:\[\^/\??\][+*]|\\[dw]\+|${range})`;
const segment = String.raw`/${literal}(?:(?:${open}|\(${open}\))${literal})?`;
const rest = String.raw`(?:\\\?)?(?:\.[*+]|\(/?\.[*+]\))`;
const nativePattern = new RegExp(`^\\^?(?:${segment}){1,20}(?:${rest})?\\$?$`);

/**
 * Most patterns are paths with one open part in a segment, and perhaps an open end. They begin at a slash and no open part
 * goes beyond the next one, so the native engine needs linear time for them too, and far less of it.
 */
export function compileNative(source: string): RegExp | undefined {
  return source.length <= maxNativeLength && nativePattern.test(source) ? new RegExp(source, 'd') : undefined;
}

const maxNativeLength = 200;
