import { mergeDefinitions, readFieldValue, withMember } from '../apis/form/json-members.ts';
import { textOrComment } from './graph-fields.ts';

/** Definitions begin in the first column: with a description, or one of these words. */
const definitionStart = /^(?:"|(?:extend\s+)?(?:schema|type|interface|union|enum|input|scalar|directive)\b)/gm;
const namePattern = /^\s*(?:extend\s+)?(?:schema|(?:type|interface|union|enum|input|scalar|directive)\s+@?\w+)/m;

/** The schema with blanks in place of texts, comments and what is in brackets: places and line starts stay. */
function maskNested(schema: string): string {
  let depth = 0;
  return schema
    .replaceAll(textOrComment, it => it[0] + ' '.repeat(it.length - 1))
    .replaceAll(/[{}()\n]/g, it => {
      if (it === '{' || it === '(') depth++;
      else if (it !== '\n') depth--;
      return it === '\n' && depth > 0 ? ' ' : it;
    });
}

/** Parts of a schema: descriptions and definitions, in their order. */
function splitParts(schema: string): readonly string[] {
  const starts = [0, ...Array.from(maskNested(schema).matchAll(definitionStart), ({ index }) => index), schema.length];
  return starts.slice(1).map((end, at) => schema.slice(starts[at], end));
}

/** Definitions of a schema by kind and name, in their order; a description belongs to the definition after it. */
function splitDefinitions(schema: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  let description = '';
  for (const part of splitParts(schema)) {
    const isDescription = part.startsWith('"');
    const name = isDescription ? undefined : namePattern.exec(part)?.[0].trim().replaceAll(/\s+/g, ' ');
    if (name === undefined) {
      description += part;
      continue;
    }
    blocks.set(name, `${blocks.get(name) ?? ''}${description}${part}`);
    description = '';
  }
  if (description.trim() !== '') blocks.set('', description);
  return blocks;
}

/** Three-way merge of schemas by definition; of a definition that both sides changed, `mine`. */
export function mergeSdl(base: string, mine: string, theirs: string): string {
  const [before, own, other] = [base, mine, theirs].map(splitDefinitions) as [Blocks, Blocks, Blocks];
  const names = new Set([...other.keys(), ...own.keys()]);
  const isChanged = (name: string) => own.get(name)?.trim() !== before.get(name)?.trim();
  const kept = [...names].map(name => (isChanged(name) ? own.get(name) : other.get(name)) ?? '');
  return kept
    .map(block => block.trim())
    .filter(Boolean)
    .join('\n\n');
}

type Blocks = ReadonlyMap<string, string>;
const schemaPath = ['graphql', 'schema'];

/** Merge of definitions of GraphQL APIs: schemas that both sides changed are merged by their definitions. */
export function mergeGraphDefinitions(base: unknown, mine: unknown, theirs: unknown): unknown {
  const [before, own, other] = [base, mine, theirs].map(it => String(readFieldValue(it, schemaPath) ?? ''));
  const merged = mergeDefinitions(base, mine, theirs);
  if (own === before || other === before) return merged;
  return withMember(merged, schemaPath, mergeSdl(before!, own!, other!));
}
