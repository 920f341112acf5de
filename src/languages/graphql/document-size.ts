import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/**
 * Size of a document with its fragments expanded: what an executor has to visit. Each fragment is measured once, so a
 * document that doubles with every fragment takes linear time.
 */
export interface DocumentSize {
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
}

export interface SizeBounds {
  readonly maxFields: number;
  /** 0: no limit, here and below. */
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

/** Occurrences of one response name in a merged selection set: validation compares each with each. */
const maxFieldRepeats = 50;

const nothing: DocumentSize = { depth: 0, fields: 0, aliases: 0, directives: 0 };
type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export const collectFragments = ({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> =>
  new Map(definitions.flatMap(it => (it.kind === Kind.FRAGMENT_DEFINITION ? [[it.name.value, it]] : [])));

/** Measures the operations of a document together; throws at a fragment cycle. */
export function measureDocument(document: DocumentNode): DocumentSize {
  const fragments = collectFragments(document);
  const measured = new Map<string, DocumentSize | undefined>();

  function measureFragment(name: string): DocumentSize {
    const fragment = fragments.get(name);
    if (!fragment) return nothing;
    const known = measured.get(name);
    if (known) return known;
    if (measured.has(name)) throw new GraphQLError(`Cannot spread fragment "${name}" within itself.`);
    measured.set(name, undefined);
    const size = measureSet(fragment.selectionSet, fragment.directives?.length ?? 0);
    measured.set(name, size);
    return size;
  }

  function measureSelection(selection: SelectionNode): DocumentSize {
    const directives = selection.directives?.length ?? 0;
    if (selection.kind === Kind.INLINE_FRAGMENT) return measureSet(selection.selectionSet, directives);
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      return addDirectives(measureFragment(selection.name.value), directives);
    const under = selection.selectionSet ? measureSet(selection.selectionSet, 0) : nothing;
    return {
      depth: under.depth + 1,
      fields: under.fields + 1,
      aliases: under.aliases + (selection.alias ? 1 : 0),
      directives: under.directives + directives,
    };
  }

  function measureSet({ selections }: SelectionSetNode, directives: number): DocumentSize {
    let [depth, fields, aliases, all] = [0, 0, 0, directives];
    for (const selection of selections) {
      const size = measureSelection(selection);
      depth = Math.max(depth, size.depth);
      fields += size.fields;
      aliases += size.aliases;
      all += size.directives;
    }
    return { depth, fields, aliases, directives: all };
  }

  let total = nothing;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) measureFragment(definition.name.value);
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const variables = definition.variableDefinitions ?? [];
    const own = [definition, ...variables].reduce((sum, { directives }) => sum + (directives?.length ?? 0), 0);
    total = sumSizes(total, measureSet(definition.selectionSet, own));
  }
  return total;
}

const addDirectives = (size: DocumentSize, directives: number): DocumentSize => ({
  ...size,
  directives: size.directives + directives,
});

const sumSizes = (a: DocumentSize, b: DocumentSize): DocumentSize => ({
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
  aliases: a.aliases + b.aliases,
  directives: a.directives + b.directives,
});

/** The bound that a document exceeds, in words; undefined within all. */
export function findDocumentExcess(size: DocumentSize, bounds: SizeBounds): string | undefined {
  if (size.fields > bounds.maxFields) return `more than ${bounds.maxFields} fields`;
  if (bounds.maxAliases > 0 && size.aliases > bounds.maxAliases) return `more than ${bounds.maxAliases} aliases`;
  if (bounds.maxDirectives > 0 && size.directives > bounds.maxDirectives)
    return `more than ${bounds.maxDirectives} directives`;
  return undefined;
}

/**
 * Repeated fields: merges selection sets by response name as an executor does, and throws where one name occurs too
 * often. Validation compares the occurrences in pairs, so that their number is bounded before it. Requires a document
 * whose expanded size is bounded.
 */
export function rejectRepeatedFields(document: DocumentNode): void {
  const fragments = collectFragments(document);
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) rejectRepeats([definition.selectionSet], fragments);
}

function rejectRepeats(sets: readonly SelectionSetNode[], fragments: Fragments): void {
  const groups = new Map<string, FieldNode[]>();
  for (const set of sets) collectFields(set, fragments, groups);
  for (const [name, fields] of groups) {
    if (fields.length > maxFieldRepeats)
      throw new GraphQLError(`the field ${name} occurs more than ${maxFieldRepeats} times in one selection`);
    const under = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (under.length > 0) rejectRepeats(under, fragments);
  }
}

function collectFields({ selections }: SelectionSetNode, fragments: Fragments, into: Map<string, FieldNode[]>): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const name = selection.alias?.value ?? selection.name.value;
      const group = into.get(name);
      if (group) group.push(selection);
      else into.set(name, [selection]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) collectFields(selection.selectionSet, fragments, into);
    else {
      const fragment = fragments.get(selection.name.value);
      if (fragment) collectFields(fragment.selectionSet, fragments, into);
    }
  }
}
