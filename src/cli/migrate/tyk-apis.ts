import { getAt, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { deriveDefinitionId } from '../api-documents.ts';
import { type ExportPlace, formatPlace } from './place.ts';
import type { PlanBuilder } from './plan.ts';
import { findDifferences } from './tyk-differences.ts';
import { renameVendor } from './tyk-names.ts';
import { readExportedValue } from './tyk-values.ts';

const extensionName = 'x-gw-api-gateway';

/** Plans an API in either form: names, then types, then the differences of what came out. */
export function addTykApi(plan: PlanBuilder, item: ExportPlace, given: JsonObject): void {
  const source = formatPlace(item);
  const { value: renamedValue } = renameVendor(given);
  const renamed = renamedValue as JsonObject;
  const isDocument = extensionName in renamed;
  const { value, changed } = isDocument ? readDocument(renamed) : readExportedValue(renamed);
  const typed = value as JsonObject;
  const notes = [...describeTypes(changed), ...findDifferences(typed)];
  if (isDocument) return addDocument(plan, source, typed, notes);
  const { is_oas, ...definition } = typed;
  if (is_oas === true) notes.push('its OpenAPI document is not in the export: it is moved in the classic form');
  const id = deriveDefinitionId(definition);
  if (id === undefined) return plan.leaveOut(source, 'API', 'it has no id, listen path or name');
  plan.add({ kind: 'API', id, source, body: { ...definition, api_id: id }, notes });
}

/** Only the extension has members of the gateway: the rest of the document is the operator's. */
function readDocument(document: JsonObject) {
  const { value, changed } = readExportedValue(document[extensionName]);
  return { value: { ...document, [extensionName]: value }, changed: changed.map(path => `${extensionName}.${path}`) };
}

function addDocument(plan: PlanBuilder, source: string, document: JsonObject, notes: readonly string[]): void {
  const extension = objectOrEmpty(document[extensionName]);
  const info = objectOrEmpty(extension.info);
  const id = deriveDefinitionId({
    api_id: info.id,
    org_id: info.orgId,
    name: info.name,
    domain: getAt(extension, ['server', 'customDomain', 'name']),
    proxy: { listen_path: getAt(extension, ['server', 'listenPath', 'value']) },
  });
  if (id === undefined || !isObject(extension.info))
    return plan.leaveOut(source, 'API', 'its extension has no id, listen path or name');
  const body = { ...document, [extensionName]: { ...extension, info: { ...info, id } } };
  plan.add({ kind: 'API', id, source, body, notes });
}

const maxNamedPaths = 5;

/** Note on values whose type changed. */
export function describeTypes(changed: readonly string[]): string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, maxNamedPaths).join(', ');
  const more = changed.length > maxNamedPaths ? ` and ${changed.length - maxNamedPaths} more` : '';
  return [`read with the type that the member has: ${named}${more}`];
}
