import { jsonLanguage } from '@codemirror/lang-json';
import type { TextRange } from './code-types.ts';
import { parsePointer } from './json-pointer.ts';

type Tree = ReturnType<typeof jsonLanguage.parser.parse>;
type Node = Tree['topNode'];

/** Range of the value at a JSON pointer (RFC 6901); of the deepest member on its way that exists. */
export function findPointerRange(text: string, pointer: string): TextRange {
  let node = jsonLanguage.parser.parse(text).topNode.firstChild;
  let range: TextRange = { from: 0, to: Math.min(1, text.length) };
  for (const name of parsePointer(pointer)) {
    const next = node && findMember(text, node, name);
    if (!next) break;
    range = next.range;
    node = next.value;
  }
  return range;
}

function findMember(text: string, node: Node, name: string): { range: TextRange; value: Node | null } | undefined {
  if (node.name === 'Array') {
    const items = node.getChildren('Value');
    const list = items.length > 0 ? items : listValues(node);
    const value = list[Number(name)];
    return value && { range: { from: value.from, to: value.to }, value };
  }
  for (const property of node.getChildren('Property')) {
    const key = property.getChild('PropertyName');
    if (!key || parseKey(text.slice(key.from, key.to)) !== name) continue;
    return { range: { from: key.from, to: key.to }, value: property.lastChild };
  }
  return undefined;
}

function listValues(node: Node): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (!['[', ']', ',', '⚠'].includes(child.name)) found.push(child);
  return found;
}

/** The text of a property name; an incomplete one matches nothing. */
function parseKey(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
