import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  FieldsOnCorrectTypeRule,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  type ValidationContext,
  validate,
} from 'graphql';
import { rejectRepeatedFields } from './document-size.ts';
import { suggestName } from './suggestions.ts';

/** Errors reported at most; the rest cost time. */
const maxErrors = 10;

const replacedRules: readonly unknown[] = [FieldsOnCorrectTypeRule, OverlappingFieldsCanBeMergedRule];
const firstRules = [...specifiedRules.filter(rule => !replacedRules.includes(rule)), requireDefinedFields];
const lastRules = [OverlappingFieldsCanBeMergedRule];

/** Suggestions of the package compare each unknown name with all names of the schema: seconds for a small document. */
const options = { maxErrors, hideSuggestions: true };

/**
 * Validation of a document against a schema. The first error has a suggestion (`Did you mean …`), which names parts of
 * the schema: it is left out where introspection is disabled. Throws `GraphQLError` at a repeated field.
 */
export function validateGraphqlDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  hidesSuggestions: boolean,
): readonly GraphQLError[] {
  rejectRepeatedFields(document);
  const [first, ...others] = validate(schema, document, firstRules, options);
  // Fields are compared in pairs only where no fragment is unused: repeats in those were not counted.
  if (!first) return validate(schema, document, lastRules, options);
  return [hidesSuggestions ? first : suggestName(schema, first), ...others];
}

/** Fields exist on their type; the wording and the path are those that clients of older gateways match on. */
function requireDefinedFields(context: ValidationContext): ASTVisitor {
  return {
    Field(node, _key, _parent, _path, ancestors) {
      const type = context.getParentType();
      if (!type || context.getFieldDef()) return;
      const message = `field: ${node.name.value} not defined on type: ${type.name}`;
      const path = findResponsePath(ancestors, node.alias?.value ?? node.name.value);
      context.reportError(new GraphQLError(message, { nodes: [node], path }));
    },
  };
}

/** `['query', 'user', 'name']`; a fragment begins with its name. */
function findResponsePath(ancestors: readonly (ASTNode | readonly ASTNode[])[], name: string): string[] {
  const path: string[] = [];
  for (const node of ancestors)
    if (!('kind' in node)) continue;
    else if (node.kind === Kind.OPERATION_DEFINITION) path.push(node.operation);
    else if (node.kind === Kind.FRAGMENT_DEFINITION) path.push(node.name.value);
    else if (node.kind === Kind.FIELD) path.push(node.alias?.value ?? node.name.value);
  return [...path, name];
}
