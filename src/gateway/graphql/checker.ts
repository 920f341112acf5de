import type { DocumentNode, GraphQLFormattedError } from 'graphql';
import { findRight, type Right } from '#access/keys/session.ts';
import type { Settings } from '#base/settings.ts';
import type { CheckedDocument, DocumentBounds, DocumentFault } from '#languages/graphql/document.ts';
import type { FieldGuards } from '#languages/graphql/federation/field-guards.ts';
import type { AnalysedOperation } from '#languages/graphql/operations.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { exceedsDepth, findRestrictedField } from './access.ts';
import { findDocumentCache } from './document-cache.ts';
import { findGuardedField } from './guarded-fields.ts';
import type { FindPlanExcess } from './plan-size.ts';
import type { GraphqlRequest } from './request.ts';

/** Outcome of the checks of one operation. */
export type CheckOutcome =
  | { readonly kind: 'forward'; readonly operation: AnalysedOperation; readonly document: DocumentNode }
  /** Result of meta fields, from the schema. */
  | {
      readonly kind: 'respond';
      readonly operation: AnalysedOperation;
      readonly document: DocumentNode;
      readonly result: string;
    }
  | Refused;

/** `errors` where the document is at fault, as a GraphQL response has them. */
export interface Refused {
  readonly kind: 'refuse';
  readonly code: RefusalCode;
  readonly errors?: readonly GraphQLFormattedError[];
}

export interface OperationRules {
  readonly compiled: CompiledSchema;
  readonly bounds: DocumentBounds;
  /** Of every client; 0: no limit. */
  readonly maxDepth: number;
  /** 0: no limit. */
  readonly maxCost: number;
  readonly defaultListSize: number;
  readonly isIntrospectionDisabled: boolean;
  readonly apiId: string;
  /** Guards of a supergraph; undefined where it has none. */
  readonly guards: FieldGuards | undefined;
  /** Types that guards may be on: all of a supergraph, also those that clients do not see. */
  readonly guardedTypes: Pick<CompiledSchema, 'schema' | 'listRelatedTypes'>;
  /** Why an operation of a supergraph is too large to plan; undefined for any other API. */
  readonly findPlanExcess: FindPlanExcess | undefined;
  readScopes(claims: Readonly<Record<string, unknown>>): ReadonlySet<string>;
}

export type OperationChecker = (call: Exchange, request: GraphqlRequest) => CheckOutcome;

const refuseWith = (code: RefusalCode, errors?: readonly GraphQLFormattedError[]): Refused =>
  errors ? { kind: 'refuse', code, errors } : { kind: 'refuse', code };
const refuseFault = ({ kind, errors }: DocumentFault): Refused =>
  refuseWith(kind === 'limit' ? 'graphql_limit_exceeded' : 'graphql_invalid', errors);
const isDocumentFault = <T extends object>(value: T | DocumentFault): value is DocumentFault => 'errors' in value;

/** Checks one operation by the schema, the bounds and the rights of the client; transports share it. */
export function createOperationChecker(rules: OperationRules, settings: Settings): OperationChecker {
  const { compiled, bounds, apiId } = rules;
  const language = loadGraphqlLanguage();
  const cache = findDocumentCache(settings);
  const cacheScope = `${compiled.id} ${Object.values(bounds).join(' ')} `;

  /** Meta fields have no depth limit: their result is bounded by itself. */
  function respondFromSchema(
    key: string,
    checked: CheckedDocument,
    operation: AnalysedOperation,
    variables: Readonly<Record<string, unknown>>,
  ): CheckOutcome {
    const { document } = checked;
    const isConstant = checked.operations.length === 1 && operation.node.variableDefinitions?.length === 0;
    const known = isConstant ? cache.get(key)?.metaResult : undefined;
    if (known !== undefined) return { kind: 'respond', operation, document, result: known };
    const given = language.introspect(compiled, checked, operation, variables);
    if (isDocumentFault(given)) return refuseFault(given);
    if (isConstant) cache.set(key, checked, given.result);
    return { kind: 'respond', operation, document, result: given.result };
  }

  return (call, { query, operationName, variables }) => {
    const right = findClientRight(call, apiId);
    const hidesSchema = rules.isIntrospectionDisabled || right?.introspection === false;
    const key = cacheScope + query;
    let document: CheckedDocument | DocumentFault | undefined = cache.get(key)?.document;
    if (!document) {
      document = language.checkGraphqlDocument(compiled, query, bounds, hidesSchema);
      if (isDocumentFault(document)) return refuseFault(document);
      cache.set(key, document);
    }
    const operation = language.selectOperation(document, operationName);
    if (isDocumentFault(operation)) return refuseFault(operation);
    if (operation.hasIntrospection && hidesSchema) return refuseWith('graphql_introspection_disabled');
    const coerced = language.coerceVariables(compiled, operation, variables);
    if (isDocumentFault(coerced)) return refuseFault(coerced);
    if (operation.isMetaOnly) return respondFromSchema(key, document, operation, variables);
    if (exceedsDepth(operation, rules.maxDepth, right)) return refuseWith('graphql_depth_exceeded');
    const restricted =
      (right && findRestrictedField(operation, right, compiled)) ?? findGuarded(call, operation, rules);
    if (!restricted) return checkSize(rules, document, operation, coerced.values);
    const message = `field: ${restricted.field} is restricted on type: ${restricted.type}`;
    return refuseWith('graphql_field_restricted', [{ message }]);
  };
}

/** The cost, and the size of the plan of a supergraph. */
function checkSize(
  { findPlanExcess, maxCost, defaultListSize, compiled }: OperationRules,
  { document }: CheckedDocument,
  operation: AnalysedOperation,
  variables: Readonly<Record<string, unknown>>,
): CheckOutcome {
  const excess = findPlanExcess?.(document, operation.node);
  if (excess !== undefined) return refuseWith('graphql_limit_exceeded', [{ message: excess }]);
  if (maxCost === 0) return { kind: 'forward', operation, document };
  const options = { defaultListSize, variables };
  const cost = loadGraphqlLanguage().computeCost(compiled.schema, document, operation, options);
  if (cost <= maxCost) return { kind: 'forward', operation, document };
  const message = `the operation has the cost ${Math.round(cost)}, the limit is ${maxCost}`;
  return refuseWith('graphql_limit_exceeded', [{ message }]);
}

/** The right of the key on this API; undefined for an open API or endpoint. */
function findClientRight({ session, skipsAuth }: Exchange, apiId: string): Right | undefined {
  return session && !skipsAuth ? findRight(session, apiId) : undefined;
}

const noScopes: ReadonlySet<string> = new Set();

/** The first selected field that the guards of a supergraph deny to the client. */
function findGuarded(
  { session, skipsAuth, verifiedToken }: Exchange,
  operation: AnalysedOperation,
  { guards, guardedTypes, readScopes }: OperationRules,
) {
  if (!guards) return undefined;
  const isAuthenticated = session !== undefined && !skipsAuth;
  const scopes = isAuthenticated && verifiedToken ? readScopes(verifiedToken.claims) : noScopes;
  return findGuardedField(operation, guardedTypes, guards, { isAuthenticated, scopes });
}
