import {
  type ArgumentNode,
  astFromValue,
  type DirectiveNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLResolveInfo,
  getNamedType,
  isAbstractType,
  isCompositeType,
  Kind,
  OperationTypeNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { reservedPrefix } from '#definition/data-graph/data-graph-check.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import { SourceError } from './source-error.ts';

/** Facts of the graph for operations. */
export interface OperationPlan {
  /** Fragments of a client are expanded: a short document could be a long operation. */
  readonly maxOperationLength: number;
  /** Source of a field; undefined where its parent has the value. */
  findSource(type: string, field: string): DataSource | undefined;
  /** Members of the parent object that the source of a field names. */
  listRequiredMembers(type: string, field: string): readonly (readonly string[])[];
  /** Name of a field at its GraphQL source. */
  nameAtSource(type: string, field: string): string;
}

/** Operation for a GraphQL source: the text, and the variables of the client that it uses. */
export interface UpstreamOperation {
  readonly query: string;
  readonly variableNames: readonly string[];
}

const nameNode = (value: string) => ({ kind: Kind.NAME, value }) as const;
const typenameField: FieldNode = {
  kind: Kind.FIELD,
  alias: nameNode(`${reservedPrefix}typename`),
  name: nameNode('__typename'),
};

/** Builds the operation that fetches a field with the selected fields below it that no other source has. */
export function buildUpstreamOperation(
  info: GraphQLResolveInfo,
  source: DataSource,
  plan: OperationPlan,
  onExcess: () => never,
): UpstreamOperation {
  const { schema, fragments, operation, fieldNodes, parentType } = info;
  const isRootField = schema.getRootType(operation.operation) === parentType;
  const nodes = fieldNodes as readonly [FieldNode, ...FieldNode[]];
  let length = 0;
  const take = (more: number) => {
    length += more;
    if (length > plan.maxOperationLength) onExcess();
  };
  const field = buildField({ schema, fragments, source, plan, take }, parentType, nodes, []);
  const document = {
    kind: Kind.OPERATION_DEFINITION,
    operation: isRootField ? operation.operation : OperationTypeNode.QUERY,
    selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
  } as const;
  const used = new Set<string>();
  visit(document, { Variable: node => void used.add(node.name.value) });
  const variableDefinitions: VariableDefinitionNode[] = (operation.variableDefinitions ?? []).filter(it =>
    used.has(it.variable.name.value),
  );
  const query = print({ ...document, variableDefinitions });
  if (query.length > plan.maxOperationLength) onExcess();
  return { query, variableNames: [...used] };
}

/** Context of selections. */
interface Building extends Pick<GraphQLResolveInfo, 'schema' | 'fragments'> {
  readonly source: DataSource;
  readonly plan: OperationPlan;
  /** Counts text of the operation while it is built: too much of it must not be printed. */
  take(length: number): void;
}

type RequiredMembers = Map<string, RequiredMember>;

/** A field at the source, named by the response key of the client. */
function buildField(
  building: Building,
  parent: GraphQLCompositeType,
  nodes: readonly [FieldNode, ...FieldNode[]],
  directives: readonly DirectiveNode[],
): FieldNode {
  const [first] = nodes;
  const name = first.name.value;
  const field = 'getFields' in parent ? parent.getFields()[name] : undefined;
  if (!field) throw new SourceError(`the field ${name} cannot be requested of a data source`);
  const key = first.alias?.value ?? name;
  if (key.startsWith(reservedPrefix)) throw new SourceError(`names beginning with ${reservedPrefix} are reserved`);
  building.take(key.length);
  for (const it of first.arguments ?? []) takeText(building, it.value);
  const atSource = building.plan.nameAtSource(parent.name, name);
  const type = getNamedType(field.type);
  const sets = nodes.flatMap(node => node.selectionSet ?? []);
  return {
    kind: Kind.FIELD,
    name: nameNode(atSource),
    ...(key !== atSource && { alias: nameNode(key) }),
    arguments: buildArguments(first.arguments ?? [], field),
    directives,
    ...(sets.length > 0 && isCompositeType(type) && { selectionSet: buildSelections(building, sets, type) }),
  };
}

function buildSelections(
  building: Building,
  sets: readonly SelectionSetNode[],
  parent: GraphQLCompositeType,
): SelectionSetNode {
  const required: RequiredMembers = new Map();
  const given = sets.flatMap(({ selections }) => selections);
  const selections = given.flatMap(selection => buildSelection(building, selection, parent, required));
  selections.push(...[...required.values()].map(toRequiredField));
  if (selections.length === 0 || isAbstractType(parent)) selections.push(typenameField);
  return { kind: Kind.SELECTION_SET, selections };
}

function buildSelection(
  building: Building,
  selection: SelectionNode,
  parent: GraphQLCompositeType,
  required: RequiredMembers,
): SelectionNode[] {
  if (selection.kind === Kind.FIELD) return buildNested(building, selection, parent, required);
  const { schema, fragments } = building;
  const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]!;
  const { typeCondition } = fragment;
  const type = typeCondition ? (schema.getType(typeCondition.name.value) as GraphQLCompositeType) : parent;
  return [
    {
      kind: Kind.INLINE_FRAGMENT,
      ...(typeCondition && { typeCondition }),
      directives: keepConditions(selection.directives),
      selectionSet: buildSelections(building, [fragment.selectionSet], type),
    },
  ];
}

function buildNested(
  building: Building,
  node: FieldNode,
  parent: GraphQLCompositeType,
  required: RequiredMembers,
): SelectionNode[] {
  const { schema, source, plan } = building;
  const name = node.name.value;
  // The gateway answers meta fields itself.
  if (name.startsWith('__')) return [];
  const owners = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [parent];
  const own = owners.map(type => plan.findSource(type.name, name));
  for (const [at, type] of owners.entries())
    if (own[at] && own[at] !== source)
      for (const path of plan.listRequiredMembers(type.name, name)) addRequired(building, required, type, path);
  const isFetchedHere = own.some(it => it === undefined || (it === source && it.operation === ''));
  return isFetchedHere ? [buildField(building, parent, [node], keepConditions(node.directives))] : [];
}

function addRequired(
  { plan }: Building,
  required: RequiredMembers,
  type: GraphQLCompositeType,
  [first, ...below]: readonly string[],
): void {
  const name = plan.nameAtSource(type.name, first!);
  const member = required.get(first!) ?? { alias: `${reservedPrefix}${first}`, name, below: [] };
  if (below.length > 0) member.below.push(below);
  required.set(first!, member);
}

interface RequiredMember {
  readonly alias: string;
  readonly name: string;
  readonly below: (readonly string[])[];
}

function toRequiredField({ alias, name, below }: RequiredMember): FieldNode {
  return { ...toPlainField(name, below), alias: nameNode(alias) };
}

function toPlainField(name: string, below: readonly (readonly string[])[]): FieldNode {
  const groups = Map.groupBy(
    below.filter(path => path.length > 0),
    ([first]) => first!,
  );
  const selections = [...groups].map(([first, paths]) =>
    toPlainField(
      first,
      paths.map(path => path.slice(1)),
    ),
  );
  return {
    kind: Kind.FIELD,
    name: nameNode(name),
    ...(selections.length > 0 && { selectionSet: { kind: Kind.SELECTION_SET, selections } }),
  };
}

/** Counts the text of an argument. */
function takeText(building: Building, node: ValueNode): void {
  if (node.kind === Kind.LIST) for (const item of node.values) takeText(building, item);
  if (node.kind === Kind.OBJECT) for (const field of node.fields) takeText(building, field.value);
  building.take('value' in node ? String(node.value).length : 1);
}

/** Arguments as the client wrote them, and defaults of the schema of the graph, which the source may not have. */
function buildArguments(given: readonly ArgumentNode[], { args }: GraphQLField<unknown, unknown>): ArgumentNode[] {
  const defaults = args.flatMap(({ name, type, defaultValue }): ArgumentNode[] => {
    if (defaultValue === undefined || given.some(it => it.name.value === name)) return [];
    const value = astFromValue(defaultValue, type);
    return value ? [{ kind: Kind.ARGUMENT, name: nameNode(name), value: value as ArgumentNode['value'] }] : [];
  });
  return [...given, ...defaults];
}

const keepConditions = (directives: readonly DirectiveNode[] | undefined): DirectiveNode[] =>
  (directives ?? []).filter(({ name }) => name.value === 'skip' || name.value === 'include');
