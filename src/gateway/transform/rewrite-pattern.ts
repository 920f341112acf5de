import { compileBoundedRegex } from '../pipeline/bounded-regex.ts';

/** First match: text and start of the match and its groups. */
export interface PatternMatch {
  readonly texts: readonly string[];
  /** Negative for a group that did not participate. */
  readonly starts: readonly number[];
}

export interface RewritePattern {
  readonly groupCount: number;
  /** Undefined without a match. */
  match(text: string): PatternMatch | undefined;
}

/** `maxInstructions` lowers the bound of the compiled program. */
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
/** No range contains a slash. */
const range = String.raw`\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|\w)+-?\]\+`;
const open = String.raw`(?:\[\^/\??\][+*]|\\[dw]\+|${range})`;
const segment = String.raw`/${literal}(?:(?:${open}|\(${open}\))${literal})?`;
const rest = String.raw`(?:\\\?)?(?:\.[*+]|\(/?\.[*+]\))`;
const nativePattern = new RegExp(`^\\^?(?:${segment}){1,20}(?:${rest})?\\$?$`);

/**
 * Native patterns: paths with one open part per segment and an optional open end. They begin at a slash and no open
 * part crosses the next one, so the native engine is linear too, and much faster.
 */
export function compileNative(source: string): RegExp | undefined {
  return source.length <= maxNativeLength && nativePattern.test(source) ? new RegExp(source, 'd') : undefined;
}

const maxNativeLength = 200;
