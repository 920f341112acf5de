import type { XmlMap } from './xml.ts';

/** The expression is not one of the supported ones; the message is for its author. */
export class XPathError extends Error {}

interface XPathStep {
  /** `//`: elements at any depth. */
  readonly isDescendant: boolean;
  /** Local name; `*` for any. */
  readonly name: string;
  /** Position among elements of the name, from 1; undefined for all. */
  readonly position: number | undefined;
}

/** Compiled location path. */
export interface XPath {
  readonly steps: readonly XPathStep[];
  /** Attribute of the last element; empty for its text. */
  readonly attribute: string;
}

const maxSteps = 32;
/** Elements that one selection visits: paths with several `//` visit them again and again. */
const maxVisits = 200_000;
const stepPattern =
  /(\/\/?)(?:@([\p{L}_][\p{L}\p{N}\-._]*)|text\(\)|(\*|[\p{L}_][\p{L}\p{N}\-._:]*)(?:\[(\d{1,6})\])?)/uy;

/**
 * Compiles a location path: `/a/b`, `//b`, `*`, `b[2]`, and at its end `@name` or `text()`. Prefixes of namespaces are
 * dropped, as in documents. Other parts of XPath are refused.
 */
export function compileXPath(source: string): XPath {
  const steps: XPathStep[] = [];
  let attribute = '';
  const refuse = (): never => {
    throw new XPathError('is not a location path such as /a/b, //b[2], //b/@name or //b/text()');
  };
  stepPattern.lastIndex = 0;
  for (let at = 0; at < source.length; at = stepPattern.lastIndex) {
    stepPattern.lastIndex = at;
    const found = stepPattern.exec(source);
    if (!found || steps.length >= maxSteps) return refuse();
    const [text, slashes, attributeName, name, position] = found;
    const isLast = stepPattern.lastIndex === source.length;
    if (name === undefined) {
      if (!isLast || steps.length === 0 || slashes !== '/') return refuse();
      if (!text.endsWith('()')) attribute = attributeName!;
      break;
    }
    const local = name.slice(name.lastIndexOf(':') + 1);
    steps.push({
      isDescendant: slashes === '//',
      name: local,
      position: position === undefined ? undefined : Number(position),
    });
  }
  if (steps.length === 0 || steps.some(({ position, name }) => position === 0 || name === '')) return refuse();
  return { steps, attribute };
}

/** Text of the first node that the path selects in a parsed document; undefined without one, and beyond the bound. */
export function selectText({ steps, attribute }: XPath, document: XmlMap): string | undefined {
  const walk: Walk = { visits: 0 };
  let nodes: unknown[] = [document];
  for (const step of steps) {
    const found: unknown[] = [];
    for (const node of nodes) collectChildren(node, step, found, walk);
    if (walk.visits > maxVisits) return undefined;
    nodes = found;
  }
  for (const node of nodes) {
    const text = attribute === '' ? readText(node) : readMember(node, `-${attribute}`);
    if (text !== undefined) return text;
  }
  return undefined;
}

interface Walk {
  visits: number;
}

const isMap = (node: unknown): node is XmlMap => typeof node === 'object' && node !== null && !Array.isArray(node);
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const isElement = (name: string): boolean => !name.startsWith('-') && name !== '#text';

function collectChildren(node: unknown, step: XPathStep, found: unknown[], walk: Walk): void {
  if (!isMap(node)) return;
  for (const [name, value] of Object.entries(node)) {
    if (!isElement(name)) continue;
    const isNamed = step.name === '*' || step.name === name;
    for (const [index, child] of toList(value).entries()) {
      if (++walk.visits > maxVisits) return;
      if (isNamed && (step.position === undefined || step.position === index + 1)) found.push(child);
      if (step.isDescendant) collectChildren(child, step, found, walk);
    }
  }
}

function readText(node: unknown): string | undefined {
  if (typeof node === 'string') return node;
  return readMember(node, '#text');
}

function readMember(node: unknown, name: string): string | undefined {
  const value = isMap(node) ? node[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
