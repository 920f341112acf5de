import type { Warnings } from './converted.ts';
import { trimCharacters } from './trim-characters.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Numbers, UUIDs and long hexadecimal ids: values of a parameter rather than names of a resource. */
const isIdSegment = (segment: string) =>
  /^\d{1,20}$/.test(segment) || uuid.test(segment) || /^[0-9a-f]{24,64}$/i.test(segment);

/** Characters of a segment that name a parameter. */
const maxNamingLength = 100;
const parameterSegment = /^\{([^{}/]{1,100})\}$/;

export interface TemplatedPath {
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly isNumber: boolean }[];
}

/** Path template of a recorded path: ids become parameters, named after the segment before them. */
export function toTemplatedPath(segments: readonly string[], warnings: Warnings): TemplatedPath {
  const parameters: { name: string; isNumber: boolean }[] = [];
  const counts = new Map<string, number>();
  const add = (name: string, isNumber: boolean) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const unique = count === 1 ? name : `${name}_${count}`;
    parameters.push({ name: unique, isNumber });
    return `{${unique}}`;
  };
  const parts = segments.map((segment, index) => {
    const [, named] = parameterSegment.exec(segment) ?? [];
    if (named !== undefined) return add(toParameterName(named), false);
    if (!isIdSegment(segment)) return encodeLiteral(segment);
    warnings.add('segments of paths that are numbers or ids became parameters');
    const naming = (segments[index - 1] ?? '').slice(0, maxNamingLength);
    return add(toParameterName(`${naming}_id`), /^\d{1,15}$/.test(segment));
  });
  return { path: `/${parts.join('/')}`, parameters };
}

/** Braces would be read as parameters. */
const encodeLiteral = (segment: string) =>
  segment.replaceAll(/[{}?#/]/g, character => encodeURIComponent(character)).toWellFormed();

const toParameterName = (text: string) => {
  const name = trimCharacters(text.replaceAll(/[^A-Za-z0-9_.-]+/g, '_'), '_');
  return name === '' ? 'id' : name;
};
