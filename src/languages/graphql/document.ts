import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  getVariableValues,
  Kind,
  type Location,
  parse,
  visit,
} from 'graphql';
import { type DocumentSize, findDocumentExcess, measureDocument, type SizeBounds } from './document-size.ts';
import { type AnalysedOperation, analyseOperations } from './operations.ts';
import { type ScanBounds, scanGraphqlText } from './scan.ts';
import type { CompiledSchema } from './schema.ts';
import { validateGraphqlDocument } from './validation.ts';

/** A valid document of a schema. */
export interface CheckedDocument {
  readonly document: DocumentNode;
  readonly operations: readonly AnalysedOperation[];
  readonly size: DocumentSize;
  /** Estimated memory. */
  readonly bytes: number;
}

/** `kind`: an invalid document, or one beyond a bound. */
export interface DocumentFault {
  readonly kind: 'invalid' | 'limit';
  readonly errors: readonly GraphQLFormattedError[];
}

export interface DocumentBounds extends ScanBounds, SizeBounds {}

/** Parses and validates a document; its time is bounded by the bounds. */
export function checkGraphqlDocument(
  { schema }: CompiledSchema,
  text: string,
  bounds: DocumentBounds,
  hidesSuggestions: boolean,
): CheckedDocument | DocumentFault {
  try {
    const tokens = scanGraphqlText(text, bounds);
    const document = parse(text, { maxTokens: bounds.maxTokens });
    const size = measureDocument(document);
    const excess = findDocumentExcess(size, bounds);
    if (excess) return { kind: 'limit', errors: [{ message: `the document has ${excess}` }] };
    const foreign = document.definitions.find(
      ({ kind }) => kind !== Kind.OPERATION_DEFINITION && kind !== Kind.FRAGMENT_DEFINITION,
    );
    if (foreign) return fail(new GraphQLError('the document holds a type definition', { nodes: [foreign] }));
    const errors = validateGraphqlDocument(schema, document, hidesSuggestions);
    if (errors.length > 0) return fail(...errors);
    releaseLocations(document);
    const bytes = baseBytes + 2 * text.length + tokenBytes * tokens;
    return { document, size, bytes, operations: analyseOperations(schema, document) };
  } catch (error) {
    if (error instanceof GraphQLError) return fail(error);
    throw error;
  }
}

/** First error of the syntax of a document; undefined where there is none. */
export function findSyntaxFault(text: string, bounds: ScanBounds): string | undefined {
  try {
    scanGraphqlText(text, bounds);
    parse(text, { maxTokens: bounds.maxTokens });
    return undefined;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** Memory of a document without its tokens, and of each node that comes of one. */
const baseBytes = 500;
const tokenBytes = 200;

/** Locations hold the tokens of the text: only errors use them. */
function releaseLocations(document: DocumentNode): void {
  visit(document, {
    enter(node) {
      (node as { loc?: Location | undefined }).loc = undefined;
    },
  });
}

const fail = (...errors: readonly GraphQLError[]): DocumentFault => ({
  kind: 'invalid',
  errors: errors.map(error => error.toJSON()),
});

/** The operation to execute (specification, section 6.1), or an error. */
export function selectOperation(
  { operations }: CheckedDocument,
  name: string | undefined,
): AnalysedOperation | DocumentFault {
  if (name === undefined || name === '') {
    const [only, ...others] = operations;
    if (only && others.length === 0) return only;
    const message = only ? 'operationName is required: the document has several operations' : 'no operation';
    return { kind: 'invalid', errors: [{ message }] };
  }
  const found = operations.find(operation => operation.name === name);
  return found ?? { kind: 'invalid', errors: [{ message: `unknown operation named ${JSON.stringify(name)}` }] };
}

/** Errors of variables reported at most. */
const maxVariableErrors = 10;

/** Coerces variables to their types; values that a client left out get their defaults. */
export function coerceVariables(
  { schema }: CompiledSchema,
  { node }: AnalysedOperation,
  variables: Readonly<Record<string, unknown>>,
): { readonly values: Readonly<Record<string, unknown>> } | DocumentFault {
  // Suggestions compare each unknown name with all names of its type.
  const options = { maxErrors: maxVariableErrors, hideSuggestions: true };
  const { errors, coerced } = getVariableValues(schema, node.variableDefinitions ?? [], { ...variables }, options);
  return errors ? fail(...errors) : { values: coerced };
}
