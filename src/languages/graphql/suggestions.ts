import { GraphQLError, type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { closestMatch } from '#base/closest-match.ts';

/** Characters compared at most for one suggestion: an edit distance costs the product of two lengths. */
const maxComparedPairs = 100_000;

/** Did-you-mean of bounded cost, in the words of the package; empty where no name is close. */
export function formatSuggestion(name: string, known: Iterable<string>): string {
  const nearest = closestMatch(name, takeAffordable(name, known));
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
}

/** Candidates until the bound is reached; one of another length is no near name, and costs nothing. */
function* takeAffordable(name: string, known: Iterable<string>): Generator<string> {
  const maxLengthDifference = Math.max(4, name.length / 2);
  let pairs = 0;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > maxLengthDifference) continue;
    pairs += candidate.length * name.length;
    if (pairs > maxComparedPairs) return;
    yield candidate;
  }
}

type ListNames = (schema: GraphQLSchema, type?: string, field?: string) => readonly string[];

/** Errors of the package that end without a suggestion, and the names that one can be of. */
const knownNames: readonly (readonly [message: RegExp, list: ListNames])[] = [
  [/^Unknown type "(\w+)"\.$/, schema => Object.keys(schema.getTypeMap())],
  [/^Unknown argument "(\w+)" on field "(\w+)\.(\w+)"\.$/, listArguments],
  [/^Field "(\w+)" is not defined by type "(\w+)"\.$/, listInputFields],
];

/** Adds a suggestion to an error of validation: the package compares every unknown name with all known ones. */
export function suggestName(schema: GraphQLSchema, error: GraphQLError): GraphQLError {
  for (const [message, list] of knownNames) {
    const [, name, type, field] = message.exec(error.message) ?? [];
    if (name === undefined) continue;
    const suggestion = formatSuggestion(name, list(schema, type, field));
    return new GraphQLError(error.message + suggestion, { nodes: error.nodes });
  }
  return error;
}

function listArguments(schema: GraphQLSchema, name = '', field = ''): readonly string[] {
  const type = schema.getType(name);
  const args = isObjectType(type) || isInterfaceType(type) ? type.getFields()[field]?.args : [];
  return (args ?? []).map(it => it.name);
}

function listInputFields(schema: GraphQLSchema, name = ''): readonly string[] {
  const type = schema.getType(name);
  return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}
