import { createLineProblem, shorten } from './blueprint-lines.ts';
import type { Warnings } from './converted.ts';

export interface UriParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  /** `*` of RFC 6570: a list. */
  readonly isList: boolean;
}

export interface BlueprintUri {
  /** Path of OpenAPI. */
  readonly path: string;
  readonly parameters: readonly UriParameter[];
}

const maxUriLength = 2000;
const namePattern = /^([A-Za-z0-9_.%-]{1,200})(\*?)$/;

/** Converts a URI template (RFC 6570): expressions of paths and queries. */
export function parseUri(uri: string, number: number, warnings: Warnings): BlueprintUri {
  if (uri.length > maxUriLength) throw createLineProblem(number, `the URI has more than ${maxUriLength} characters`);
  let path = '';
  const parameters: UriParameter[] = [];
  for (let at = 0; at < uri.length; ) {
    const open = uri.indexOf('{', at);
    if (open < 0) {
      path += uri.slice(at);
      break;
    }
    path += uri.slice(at, open);
    const close = uri.indexOf('}', open);
    if (close < 0) throw createLineProblem(number, `the URI ${shorten(uri)} has { without }`);
    const expression = readExpression(uri.slice(open + 1, close), number);
    path += expression.path;
    parameters.push(...expression.parameters);
    if (expression.isFragment) warnings.add(`line ${number}: the fragment of ${shorten(uri)} is left out`);
    at = close + 1;
  }
  const [withoutQuery, query] = splitQuery(path);
  if (query !== undefined) warnings.add(`line ${number}: the query of ${shorten(uri)} outside of {?…} is left out`);
  return { path: withoutQuery.startsWith('/') ? withoutQuery : `/${withoutQuery}`, parameters: unique(parameters) };
}

function splitQuery(path: string): readonly [string, string | undefined] {
  const at = path.search(/[?#]/);
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at)];
}

function readExpression(text: string, number: number) {
  const operator = /^[?&#+/.;]/.exec(text)?.[0] ?? '';
  const isQuery = operator === '?' || operator === '&';
  const isFragment = operator === '#';
  if (operator === '.' || operator === ';')
    throw createLineProblem(number, `the expression {${shorten(text)}} of the URI is not supported`);
  const variables = text
    .slice(operator.length)
    .split(',')
    .map(variable => {
      const match = namePattern.exec(variable.trim());
      if (!match) throw createLineProblem(number, `the expression {${shorten(text)}} of the URI is not supported`);
      const name = decodeName(match[1]!);
      return { name, in: isQuery ? ('query' as const) : ('path' as const), isList: match[2] === '*' };
    });
  if (isFragment) return { path: '', parameters: [], isFragment };
  if (isQuery) return { path: '', parameters: variables, isFragment };
  if (variables.length > 1 && operator !== '/')
    throw createLineProblem(number, `the expression {${shorten(text)}} of the URI is not supported`);
  const separator = operator === '/' ? '/' : '';
  return { path: variables.map(({ name }) => `${separator}{${name}}`).join(''), parameters: variables, isFragment };
}

/** A name is percent-encoded where RFC 6570 does not allow a character. */
export function decodeName(name: string): string {
  try {
    const decoded = decodeURIComponent(name);
    return isPlainName(decoded) ? decoded : name;
  } catch {
    return name;
  }
}

const unique = (parameters: readonly UriParameter[]): UriParameter[] => [
  ...new Map(parameters.map(parameter => [`${parameter.in} ${parameter.name}`, parameter])).values(),
];

/** Without characters that end an expression or segment, and without control characters. */
const isPlainName = (name: string) => !/[{}/\p{Cc}]/u.test(name);
