import { isNode, LineCounter, parseDocument } from 'yaml';
import { toPointer } from '../../../kit/json-pointer.ts';
import type { FormObject } from '../form/json-members.ts';

/** Names of a dotted path: names of the document may contain dots, so the longest that exists is taken. */
function splitPath(document: FormObject, dotted: string): readonly (string | number)[] {
  const names: (string | number)[] = [];
  let value: unknown = document;
  for (let rest = dotted; rest !== ''; ) {
    const known = Object.keys(Object(value)).filter(name => rest === name || rest.startsWith(`${name}.`));
    const name = known.sort((a, b) => b.length - a.length)[0] ?? rest.split('.')[0]!;
    names.push(Array.isArray(value) ? Number(name) : name);
    value = (Object(value) as FormObject)[name];
    rest = rest.slice(name.length + 1);
  }
  return names;
}

/** Message of a fault with the JSON pointer and the line of its member in the text; unchanged where it names none. */
export function placeFault(text: string, document: FormObject, message: string): string {
  const [, dotted = '', what = ''] = /^([^\s:]+): ([\s\S]+)$/.exec(message) ?? [];
  if (dotted === '') return message;
  const names = splitPath(document, dotted);
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines });
  for (let length = names.length; length > 0; length--) {
    const node = parsed.getIn(names.slice(0, length), true);
    if (isNode(node) && node.range) return `${toPointer(names)} (line ${lines.linePos(node.range[0]).line}): ${what}`;
  }
  return message;
}
