import type { Node, Pair } from 'yaml';
import { loadYaml } from '../lazy-packages.ts';

/** Line, from 1, of the member at a path in a YAML or JSON text; of the nearest member above it where there is none. */
export function locateLine(text: string, path: string): number {
  const { LineCounter, parseDocument } = loadYaml();
  const lines = new LineCounter();
  const { contents } = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const offset = findOffset(contents as Node | null, path, 0);
  return Math.max(1, lines.linePos(offset).line);
}

/** Line of a character offset. */
export const lineOfOffset = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function findOffset(node: Node | null | undefined, path: string, above: number): number {
  const { isMap, isSeq } = loadYaml();
  if (path === '' || !node) return above;
  if (isMap(node)) {
    const found = (node.items as Pair<Node, Node | null>[])
      .map(pair => ({ pair, rest: stripMember(path, String((pair.key as { value?: unknown }).value ?? '')) }))
      .filter(({ rest }) => rest !== undefined)
      .sort((left, right) => left.rest!.length - right.rest!.length)[0];
    if (!found) return above;
    return findOffset(found.pair.value, found.rest!, found.pair.key.range?.[0] ?? above);
  }
  const [index, position] = /^\[(\d+)\]\.?/.exec(path) ?? [];
  if (!isSeq(node) || index === undefined) return above;
  const item = node.items[Number(position)] as Node | undefined;
  return item ? findOffset(item, path.slice(index.length), item.range?.[0] ?? above) : above;
}

/** Path below a member: written as a name, or quoted in brackets. Undefined where the path does not start with it. */
function stripMember(path: string, name: string): string | undefined {
  for (const form of [name, `[${JSON.stringify(name)}]`]) {
    if (form === '' || !path.startsWith(form)) continue;
    const rest = path.slice(form.length);
    if (rest === '' || rest.startsWith('[')) return rest;
    if (rest.startsWith('.')) return rest.slice(1);
  }
  return undefined;
}
