import { parseMediaType } from '#base/media-type.ts';

const matchesRange = (range: string, type: string): boolean =>
  range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));

/** Media range specificity (RFC 9110, section 12.5.1). */
const rankSpecificity = (range: string) => (range === '*/*' ? 0 : range.endsWith('/*') ? 1 : 2);

/** The value of the most specific declared range that includes a media type. */
export function matchMediaType<T>(declared: ReadonlyMap<string, T>, type: string): T | undefined {
  return declared.get(type) ?? declared.get(`${type.split('/', 1)[0]}/*`) ?? declared.get('*/*');
}

/**
 * Content negotiation: the available type with the highest quality in `Accept`; `preferred` wins among equals. Undefined
 * where none is acceptable.
 */
export function negotiateMediaType(accept: string, types: readonly string[], preferred: string): string | undefined {
  const ranges = accept.split(',').flatMap(part => {
    const range = parseMediaType(part);
    const q = /;\s*q=([\d.]+)/i.exec(part)?.[1];
    return range === '' ? [] : [{ range, q: q === undefined ? 1 : Number(q) }];
  });
  let best: { type: string; q: number } | undefined;
  for (const type of [preferred, ...types].filter(it => types.includes(it))) {
    const fitting = ranges.filter(({ range }) => matchesRange(range, parseMediaType(type)));
    const closest = fitting.sort((a, b) => rankSpecificity(b.range) - rankSpecificity(a.range))[0];
    if (closest && closest.q > 0 && (!best || closest.q > best.q)) best = { type, q: closest.q };
  }
  return best?.type;
}
