import type { DocumentReference, ReferenceOperation, ReferenceParameter } from '../files/api-reference.ts';
import { compareSchemas, formatTypes, type SchemaComparison, toCode } from './schema-differences.ts';

/** Difference between two versions of an OpenAPI document. */
export interface DocumentDifference {
  Kind: 'added' | 'changed' | 'deprecated' | 'removed';
  /** A client of the former version may fail. */
  IsBreaking: boolean;
  /** Method and path. */
  Operation: string;
  /** Change inside of the operation; empty for a whole one. */
  Text: string;
}

export const maxDifferences = 200;
/** Schemas of one comparison. */
const maxComparedSchemas = 20_000;
const maxPathChars = 200;

/** Names of path parameters may change: they are no part of requests. */
const keyOf = ({ method, path }: ReferenceOperation) => `${method} ${path.replaceAll(/\{[^{}]*\}/g, '{}')}`;
const byKey = ({ operations }: DocumentReference) => new Map(operations.map(it => [keyOf(it), it]));

/** Lists changes of a document that a client notices, in the order of its operations; removed ones come last. */
export function compareDocuments(before: DocumentReference, after: DocumentReference): DocumentDifference[] {
  const found: DocumentDifference[] = [];
  const budget = { schemas: maxComparedSchemas };
  const former = byKey(before);
  const current = byKey(after);
  const add = (operation: ReferenceOperation, Kind: DocumentDifference['Kind'], IsBreaking: boolean, Text = '') => {
    if (found.length >= maxDifferences) return;
    found.push({ Kind, IsBreaking, Operation: `${operation.method} ${operation.path.slice(0, maxPathChars)}`, Text });
  };
  for (const [key, operation] of current) {
    const old = former.get(key);
    if (!old) add(operation, 'added', false);
    else {
      if (operation.isDeprecated && !old.isDeprecated) add(operation, 'deprecated', false);
      const report = (isBreaking: boolean, text: string) => add(operation, 'changed', isBreaking, text);
      compareParameters(old, operation, report);
      compareBodies([old, before], [operation, after], budget, report);
    }
  }
  for (const [key, operation] of former) if (!current.has(key)) add(operation, 'removed', true);
  return found;
}

type Report = SchemaComparison['report'];

const byName = ({ parameters }: ReferenceOperation) =>
  new Map(parameters.filter(({ place }) => place !== 'path').map(it => [`${it.place} ${it.name}`, it]));
const describeParameter = ({ place, name }: ReferenceParameter) => `${place} parameter ${toCode(name)}`;

function compareParameters(before: ReferenceOperation, after: ReferenceOperation, report: Report): void {
  const former = byName(before);
  const current = byName(after);
  for (const [key, it] of current) {
    const old = former.get(key);
    const name = describeParameter(it);
    if (!old) {
      report(it.isRequired, `${it.isRequired ? 'required ' : ''}${name} added`);
      continue;
    }
    if (it.isRequired && !old.isRequired) report(true, `${name} is required now`);
    if (!it.isRequired && old.isRequired) report(false, `${name} is optional now`);
    const [oldType, type] = [formatTypes(old.schema), formatTypes(it.schema)];
    if (oldType && type && oldType !== type) report(true, `${name} is ${toCode(type)}, was ${toCode(oldType)}`);
  }
  for (const [key, it] of former) if (!current.has(key)) report(true, `${describeParameter(it)} removed`);
}

type OwnedOperation = readonly [operation: ReferenceOperation, reference: DocumentReference];

function compareBodies(
  [before, { document: oldDocument }]: OwnedOperation,
  [after, { document }]: OwnedOperation,
  budget: SchemaComparison['budget'],
  report: Report,
): void {
  const compare = (direction: SchemaComparison['direction'], old: unknown, schema: unknown, prefix = '') =>
    compareSchemas(
      { schema: old, document: oldDocument },
      { schema, document },
      { direction, budget, report: (isBreaking, text) => report(isBreaking, `${prefix}${text}`) },
    );
  if (before.body && !after.body) report(false, 'request body removed');
  else if (!before.body && after.body) report(false, 'request body added');
  else if (before.body && after.body) compare('request', before.body.schema, after.body.schema);
  const former = new Map(before.responses.map(it => [it.status, it]));
  const current = new Map(after.responses.map(it => [it.status, it]));
  for (const [status, it] of current) {
    const old = former.get(status);
    if (!old) report(false, `response ${toCode(status)} added`);
    else if (old.body && it.body) compare('response', old.body.schema, it.body.schema, `${toCode(status)}: `);
  }
  for (const status of former.keys()) if (!current.has(status)) report(true, `response ${toCode(status)} removed`);
}
