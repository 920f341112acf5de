import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  introspectionTypes,
  isInterfaceType,
  isObjectType,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  specifiedDirectives,
  specifiedScalarTypes,
  visit,
} from 'graphql';
import { formatSuggestion } from './suggestions.ts';

const standardTypeNames = [...specifiedScalarTypes, ...introspectionTypes].map(({ name }) => name);

/**
 * Names in SDL: throws `GraphQLError` at the first type, extended type or argument of a directive that is not defined.
 * The package reports all of them, and compares each with all defined names.
 */
export function requireKnownNames(document: DocumentNode): void {
  const definitions = document.definitions.filter(isTypeDefinitionNode);
  const types = new Set(definitions.map(({ name }) => name.value));
  const known = new Set([...standardTypeNames, ...types]);
  const argumentNames = listDirectiveArguments(document);
  visit(document, {
    NamedType({ name }) {
      if (!known.has(name.value))
        throw new GraphQLError(`Unknown type "${name.value}".${formatSuggestion(name.value, known)}`);
    },
    Directive: node => requireKnownArguments(node, argumentNames.get(node.name.value)),
    enter(node) {
      if (!isTypeExtensionNode(node) || types.has(node.name.value)) return;
      const message = `Cannot extend type "${node.name.value}" because it is not defined.`;
      throw new GraphQLError(message + formatSuggestion(node.name.value, types));
    },
  });
}

function listDirectiveArguments(document: DocumentNode): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map(specifiedDirectives.map(it => [it.name, new Set(it.args.map(({ name }) => name))]));
  for (const it of document.definitions)
    if (it.kind === Kind.DIRECTIVE_DEFINITION)
      found.set(it.name.value, new Set((it.arguments ?? []).map(({ name }) => name.value)));
  return found;
}

function requireKnownArguments(node: DirectiveNode, known: ReadonlySet<string> | undefined): void {
  const unknown = known && node.arguments?.find(({ name }) => !known.has(name.value))?.name.value;
  if (!known || unknown === undefined) return;
  const message = `Unknown argument "${unknown}" on directive "@${node.name.value}".`;
  throw new GraphQLError(message + formatSuggestion(unknown, known));
}

/** Members of interfaces that all types implement together: each is compared, and can be an error. */
const maxImplementedMembers = 200_000;

/**
 * Members of interfaces: throws `GraphQLError` at the first one that an implementation lacks. The package reports each
 * member for each type, which is the product of their numbers.
 */
export function requireImplementedMembers(schema: GraphQLSchema): void {
  let members = 0;
  const count = (more: number) => {
    members += more;
    if (members > maxImplementedMembers)
      throw new GraphQLError(`the types implement more than ${maxImplementedMembers} members of interfaces`);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    const missing = findMissingMember(type, count);
    if (missing !== undefined) throw new GraphQLError(`${missing} expected but ${type.name} does not provide it.`);
  }
}

function findMissingMember(type: GraphQLNamedType, count: (more: number) => void): string | undefined {
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined;
  const fields = type.getFields();
  const own = new Set<GraphQLNamedType>(type.getInterfaces());
  for (const implemented of own) {
    // Another kind of type is an error of the package, once for each place.
    if (!isInterfaceType(implemented) || implemented === type) continue;
    count(1 + implemented.getInterfaces().length);
    const above = implemented.getInterfaces().find(it => !own.has(it) && it !== type);
    if (above) return `Interface ${above.name} of ${implemented.name}`;
    for (const { name, args } of Object.values(implemented.getFields())) {
      count(1 + args.length);
      const given = fields[name];
      if (!given) return `Interface field ${implemented.name}.${name}`;
      const names = new Set(given.args.map(it => it.name));
      const lacking = args.find(it => !names.has(it.name));
      if (lacking) return `Interface field argument ${implemented.name}.${name}(${lacking.name}:)`;
    }
  }
  return undefined;
}
