import { escapeMarkup } from '#base/escape-markup.ts';
import {
  findOpenStrings,
  parseSourceTemplate,
  type TemplateReference,
} from '#definition/data-graph/source-template.ts';
import {
  escapeUrlValue,
  parseVariables,
  resolveVariable,
  type Variable,
  type VariableServices,
} from '../../variables/variables.ts';
import { SourceError } from './source-error.ts';
import { formatSourceValue, readReference, type SourceScope } from './source-scope.ts';

/** Escapes a value for its place. `isQuoted`: the literal text before it opened a string. */
export type EscapeValue = (value: unknown, isQuoted: boolean, name: string) => string;

export type FillTemplate = (scope: SourceScope) => string;

type Reference = TemplateReference | Variable;

/** Compiles a text of a data source; `escapeLiteral` applies to its literal parts, when it is compiled. */
export function compileSourceText(
  text: string,
  services: VariableServices,
  escapeValue: EscapeValue,
  escapeLiteral: (text: string) => string = literal => literal,
): FillTemplate {
  const parts: (string | Reference)[] = parseSourceTemplate(text).flatMap((part): (string | Reference)[] =>
    typeof part === 'string' ? parseVariables(part, services) : [part],
  );
  const quoted = findOpenStrings(parts);
  const escaped = parts.map(part => (typeof part === 'string' ? escapeLiteral(part) : part));
  if (escaped.every(part => typeof part === 'string')) {
    const constant = escaped.join('');
    return () => constant;
  }
  return scope => {
    let filled = '';
    for (const [at, part] of escaped.entries())
      filled += typeof part === 'string' ? part : escapeValue(...readPart(part, scope, quoted[at]!));
    return filled;
  };
}

const readPart = (reference: Reference, scope: SourceScope, isQuoted: boolean): Parameters<EscapeValue> =>
  'path' in reference
    ? [readReference(reference, scope), isQuoted, reference.text]
    : [resolveVariable(reference, scope.call), isQuoted, reference.name];

export const escapePlain: EscapeValue = value => formatSourceValue(value);
export const escapeInQuery: EscapeValue = value => escapeUrlValue(formatSourceValue(value));
export const escapeInXml: EscapeValue = value => escapeMarkup(formatSourceValue(value));

/** A value is one segment, or a part of one: an empty one would be another path. */
export const escapeInPath: EscapeValue = (value, _isQuoted, name) => {
  const text = formatSourceValue(value);
  if (text === '') throw new SourceError(`${name} is empty, and part of the path of a data source`);
  return escapeUrlValue(text);
};

/** JSON: the text of a string inside quotes, else a whole value. */
export const escapeInJson: EscapeValue = (value, isQuoted) =>
  isQuoted ? JSON.stringify(formatSourceValue(value)).slice(1, -1) : JSON.stringify(value ?? null);

/** Literals of GraphQL: names of members without quotes. */
export const escapeInOperation: EscapeValue = (value, isQuoted) =>
  isQuoted ? JSON.stringify(formatSourceValue(value)).slice(1, -1) : toGraphqlLiteral(value);

function toGraphqlLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toGraphqlLiteral).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).map(([name, member]) => {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new SourceError('a member name of an argument is no name of GraphQL');
    return `${name}: ${toGraphqlLiteral(member)}`;
  });
  return `{${members.join(', ')}}`;
}
