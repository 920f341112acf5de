import { closestMatch } from '#base/closest-match.ts';

/** A value that a template takes from the request: an argument, a member of the parent object, or a header. */
export interface TemplateReference {
  readonly from: 'arguments' | 'object' | 'headers';
  /** Names from the root to the value; of a header its lower-case name alone. */
  readonly path: readonly string[];
  /** As written, for messages. */
  readonly text: string;
}

export type SourceTemplatePart = string | TemplateReference;

/** The text of a data source has an invalid template. */
export class InvalidTemplate extends Error {}

const templatePattern = /\{\{\s*([^{}]*?)\s*\}\}/g;
const referencePattern = /^\.(arguments|object|request\.headers)((?:\.[\w-]+)+)$/;
const knownRoots = ['.arguments', '.object', '.request.headers'];

/** Parses `{{ .arguments.NAME }}`, `{{ .object.NAME }}` and `{{ .request.headers.NAME }}`; the rest is literal. */
export function parseSourceTemplate(text: string): SourceTemplatePart[] {
  const parts: SourceTemplatePart[] = [];
  let end = 0;
  for (const { 0: whole, 1: inner, index } of text.matchAll(templatePattern)) {
    pushLiteral(parts, text.slice(end, index));
    parts.push(parseTemplateReference(inner!));
    end = index + whole.length;
  }
  pushLiteral(parts, text.slice(end));
  return parts;
}

function pushLiteral(parts: SourceTemplatePart[], text: string): void {
  if (text.includes('{{')) throw new InvalidTemplate('a template is not closed by }}');
  if (text !== '') parts.push(text);
}

function parseTemplateReference(text: string): TemplateReference {
  const [, root, below] = referencePattern.exec(text) ?? [];
  if (root === undefined) throw new InvalidTemplate(describeUnknown(text));
  const path = below!.slice(1).split('.');
  if (root !== 'request.headers') return { from: root as 'arguments' | 'object', path, text };
  if (path.length > 1) throw new InvalidTemplate(`{{${text}}} names more than a header`);
  return { from: 'headers', path: [path[0]!.toLowerCase()], text };
}

function describeUnknown(text: string): string {
  const [root = ''] = /^\.?(?:request\.)?\w*/.exec(text) ?? [];
  const meant = closestMatch(root.startsWith('.') ? root : `.${root}`, knownRoots);
  const hint = meant === undefined ? `templates begin with ${knownRoots.join(', ')}` : `did you mean ${meant}.…?`;
  return `{{${text.slice(0, 100)}}} is no template: ${hint}`;
}

/** References of a template. */
export const listReferences = (parts: readonly SourceTemplatePart[]): TemplateReference[] =>
  parts.filter(part => typeof part !== 'string');

/** For each part, whether a string literal is open after it, by the quotes of the texts so far. */
export function findOpenStrings(parts: readonly unknown[]): boolean[] {
  let isOpen = false;
  return parts.map(part => {
    if (typeof part === 'string')
      for (let at = 0; at < part.length; at++)
        if (isOpen && part[at] === '\\') at++;
        else if (part[at] === '"') isOpen = !isOpen;
    return isOpen;
  });
}
