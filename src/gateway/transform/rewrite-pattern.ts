import { operatorPattern } from '../pipeline/bounded-regex.ts';

/** The first place where a pattern fits: its text and that of its groups, and where each begins. */
export interface Match {
  readonly texts: readonly string[];
  /** Below zero where a group took no part. */
  readonly starts: readonly number[];
}

export interface Pattern {
  readonly groups: number;
  /** Undefined where it fits nowhere. */
  match(text: string): Match | undefined;
}

/** `most`: instructions it may have, where it may have fewer than others. */
export function patternOf(source: string, what: string, most?: number): Pattern {
  const compiled = operatorPattern(
    `the pattern of ${what}`,
    source,
    most === undefined ? {} : { maxInstructions: most },
  );
  const groups = compiled.groupCount();
  const quick = quickPattern(source);
  if (quick) return { groups, match: text => matchOf(quick.exec(text)) };
  return {
    groups,
    match(text) {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return undefined;
      const texts: string[] = [];
      const starts: number[] = [];
      for (let group = 0; group <= groups; group++) {
        texts.push(matcher.group(group) ?? '');
        starts.push(matcher.start(group));
      }
      return { texts, starts };
    },
  };
}

function matchOf(found: RegExpExecArray | null): Match | undefined {
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
const quick = new RegExp(`^\\^?(?:${segment}){1,20}(?:${rest})?\\$?$`);

/**
 * Most patterns are paths with one open part in a segment, and perhaps an open end. They begin at a slash and no open part
 * goes beyond the next one, so the native engine needs linear time for them too, and far less of it.
 */
export function quickPattern(source: string): RegExp | undefined {
  return source.length <= longestQuick && quick.test(source) ? new RegExp(source, 'd') : undefined;
}

const longestQuick = 200;
